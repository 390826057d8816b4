
# __belay_find_command sets offset to the place of the command that belay is to run; it fails if the cursor is before that.
__belay_find_command()
{
    local i word
    case ${COMP_WORDS[1]} in
        @COMMANDS@) ;;
        *) return 1 ;;
    esac
    for ((i = 2; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
            --)
                offset=$((i + 1))
                ((offset <= COMP_CWORD))
                return ;;
            @VALUED@)
                [[ ${COMP_WORDS[i + 1]-} == = ]] && i=$((i + 1))
                i=$((i + 1))
                # bash also breaks words at = and :
                while [[ ${COMP_WORDS[i + 1]-} == [=:]* ]]; do
                    i=$((i + 2))
                done ;;
            -*) [[ ${COMP_WORDS[i + 1]-} == = ]] && i=$((i + 2)) ;;
            *)
                offset=$i
                [[ ${COMP_WORDS[1]} == run || ${COMP_WORDS[1]} == rehearse ]]
                return ;;
        esac
    done
    return 1
}

# __belay_complete completes that command as bash would without belay, and everything else as belay says.
__belay_complete()
{
    local offset
    if ! __belay_find_command; then
        __start_belay "$@"
    elif declare -F _comp_command_offset >/dev/null 2>&1; then
        _comp_command_offset "$offset"
    elif declare -F _command_offset >/dev/null 2>&1; then
        _command_offset "$offset"
    elif ((offset == COMP_CWORD)); then
        # bash-completion is not installed: the names of commands, and after those files.
        local IFS=$'\n'
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}" | sort -u))
    fi
}

# What cobra's script needs of bash-completion, where that is not installed.
__belay_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
}

if [[ $(type -t compopt) = "builtin" ]]; then
    complete -o default -F __belay_complete belay
else
    complete -o default -o nospace -F __belay_complete belay
fi
