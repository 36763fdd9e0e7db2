# Completion of ouro-timer for fish. In ~/.config/fish/config.fish:
#
#     ouro-timer completion fish | source
#
# The words typed so far are handed to "ouro-timer __complete" without their quotes. Nothing here evaluates or expands them.

function __ouro_timer_complete
    set -l before (commandline -opc)
    set -l raw (commandline -ct)
    set -l current (string replace -r -- '^["\']' '' "$raw") # a quote that is still open

    # A program called by its path answers for itself.
    set -l program ouro-timer
    if string match -q -- '*/*' "$before[1]"
        set -l path (string replace -r -- '^~/' "$HOME/" "$before[1]")
        test -f "$path" -a -x "$path"; and set program $path
    end

    # Quoted, because an empty word is one too.
    set -l reply (command $program __complete -- $before[2..-1] "$current" 2>/dev/null </dev/null)
    switch "$reply[1]"
        case :files
            set -l option (string match -r -- '^--[^=]*=' "$current")
            __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current") | string replace -r -- '^' "$option"
        case ':command *'
            set -l skip (string replace -- ':command ' '' $reply[1])
            # fish would run a substitution in the place of a command to learn what to complete.
            string match -q -- '*(*' "$raw"; and return
            set -l line (string escape -- $before[(math $skip + 1)..-1]) "$raw"
            complete -C (string join -- ' ' $line)
        case '*'
            string join -- \n $reply
    end
end

# No names of files, unless asked for; in the order of ouro-timer: tasks come as they are due.
complete -c ouro-timer -f -k -a '(__ouro_timer_complete)'
