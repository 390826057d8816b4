
# __belay_find_command prints the place of the command that belay is to run; it fails if the cursor is before that.
function __belay_find_command
    set -l words (commandline -opc)
    string match -qr '^(@COMMANDS@)$' -- "$words[2]"; or return 1
    set -l cursor (math (count $words) + 1)
    set -a words (commandline -ct)
    set -l i 3
    while test $i -le $cursor
        switch "$words[$i]"
            case --
                set i (math $i + 1)
                break
            case '-*'
                if string match -qr '^(@VALUED@)$' -- $words[$i]
                    set i (math $i + 1)
                end
            case '*'
                string match -qr '^(run|rehearse)$' -- $words[2]; or return 1
                break
        end
        set i (math $i + 1)
    end
    test $i -le $cursor; and echo $i
end

# __belay_complete_command completes that command as fish would without belay.
function __belay_complete_command
    set -l words (commandline -opc)
    set -l offset (__belay_find_command)
    set -l rest
    if test $offset -le (count $words)
        set rest (string escape -- $words[$offset..-1])
    end
    complete -C (string join ' ' -- $rest (commandline -ct))
end

complete -c belay -e
complete -c belay -n '__belay_find_command >/dev/null' -x -a '(__belay_complete_command)'
complete -c belay -n 'not __belay_find_command >/dev/null; and __belay_clear_perform_completion_once_result'
complete -c belay -n 'not __belay_find_command >/dev/null; and not __belay_requires_order_preservation; and __belay_prepare_completions' -f -a '$__belay_comp_results'
complete -k -c belay -n 'not __belay_find_command >/dev/null; and __belay_requires_order_preservation; and __belay_prepare_completions' -f -a '$__belay_comp_results'
