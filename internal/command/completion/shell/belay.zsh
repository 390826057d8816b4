# _belay completes the command that belay is to run as zsh would without belay, and everything else as belay says.
_belay()
{
    local -i i
    if [[ $words[2] == (@COMMANDS@) ]]; then
        for ((i = 3; i <= CURRENT; i++)); do
            case $words[i] in
                (--)
                    ((i++))
                    break ;;
                (@VALUED@) ((i++)) ;;
                (-*) ;;
                (*)
                    [[ $words[2] == (run|rehearse) ]] || i=CURRENT+1
                    break ;;
            esac
        done
        if ((i <= CURRENT)); then
            shift $((i - 1)) words
            ((CURRENT -= i - 1))
            _normal
            return
        fi
    fi
    __belay_own
}
