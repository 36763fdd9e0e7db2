# Completion of ouro-timer for bash, 3.2 and later. In ~/.bashrc:
#
#     source <(ouro-timer completion bash)
#
# The words typed so far are handed to "ouro-timer __complete" as they stand. Nothing here evaluates or expands them.

_ouro_timer() {
    local IFS=$' \t\n'
    local typed=${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}}
    local replaced=${2-} gap piece i last=-1
    local -a words starts
    COMPREPLY=()

    # COMP_WORDS is cut at each character of COMP_WORDBREAKS: "--tz=UTC" is three words there. What has no blank in
    # between is put together again. starts[i] is where in COMP_WORDS the word i begins.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]-}
        gap=${typed%%[![:space:]]*}
        typed=${typed:${#gap}}
        ((i < COMP_CWORD)) || piece=$typed # as far as the cursor
        if ((last < 0)) || [[ -n $gap ]]; then
            last=$((last + 1))
            words[last]=$piece
            starts[last]=$i
        else
            words[last]=${words[last]}$piece
        fi
        typed=${typed:${#piece}}
    done
    ((last > 0)) || return 0
    local current=${words[last]}

    # A program called by its path answers for itself.
    local program=ouro-timer
    if [[ ${words[0]} == */* ]]; then
        program=${words[0]}
        [[ $program != '~/'* ]] || program=$HOME/${program:2}
        [[ -f $program && -x $program ]] || program=ouro-timer
    fi

    # A quote that is still open belongs to the line, not to the word. bash replaces what follows it.
    local quote=
    case $current in
        [\"\']*) quote=${current:0:1} ;;
    esac
    words[last]=${current:${#quote}}

    local reply word about width=0 listing=
    local -a found abouts
    reply=$(command "$program" __complete -- "${words[@]:1}" 2>/dev/null </dev/null) || return 0
    case $reply in
        '') return 0 ;;
        :files) _ouro_timer_files "$replaced"; return 0 ;;
        ':command '*) _ouro_timer_command "${starts[${reply#:command }]}" "$replaced"; return 0 ;;
    esac

    # What stands before the last word break stays on the line, so it is no part of the answer.
    local kept=
    current=${words[last]}
    [[ $current != *"$replaced" ]] || kept=${current%"$replaced"}

    i=0
    while IFS=$'\t' read -r word about; do
        found[i]=${word#"$kept"}
        abouts[i]=$about
        ((${#found[i]} <= width)) || width=${#found[i]}
        i=$((i + 1))
    done <<<"$reply"

    # bash shows the very words it would insert. So descriptions are added only when it lists several: then it inserts no
    # more than the words have in common.
    case ${COMP_TYPE-} in
        33 | 63 | 64) ((i < 2)) || listing=1 ;;
    esac
    local room=$((${COLUMNS:-80} - 2)) row
    ((room >= 20)) || room=20
    for ((last = 0; last < i; last++)); do
        row=${found[last]}
        if [[ -n $listing && -n ${abouts[last]} ]]; then
            while ((${#row} < width)); do row+=' '; done
            row+="  (${abouts[last]})"
            row=${row:0:room}
        fi
        COMPREPLY[last]=$row
    done
    # The order is that of ouro-timer: tasks come as they are due.
    compopt -o nosort 2>/dev/null
    return 0
}

# _ouro_timer_files WORD completes the name of a file.
_ouro_timer_files() {
    compopt -o default 2>/dev/null && return 0
    local name # a bash without compopt
    while IFS= read -r name; do
        COMPREPLY[${#COMPREPLY[@]}]=$(printf %q "$name")
    done < <(compgen -f -- "$1")
    return 0
}

# _ouro_timer_command START WORD completes the words from COMP_WORDS[START] on as the command line they are.
_ouro_timer_command() {
    local start=$1 replaced=$2 i
    if declare -F _comp_command_offset >/dev/null; then # bash-completion 2.12
        _comp_command_offset "$start"
        return 0
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$start"
        return 0
    fi

    if ((COMP_CWORD == start)); then # the name of the command
        if [[ $replaced == */* ]]; then
            _ouro_timer_files "$replaced"
        else
            i=0
            local name
            while read -r name; do
                COMPREPLY[i]=$name
                i=$((i + 1))
            done < <(compgen -c -- "$replaced" | sort -u)
        fi
        return 0
    fi

    # The line is cut to that command, and the function that completes it called, when there is one.
    local line=$COMP_LINE point=${COMP_POINT:-${#COMP_LINE}} gap
    for ((i = 0; i < start; i++)); do
        gap=${line%%[![:space:]]*}
        point=$((point - ${#gap} - ${#COMP_WORDS[i]}))
        line=${line:${#gap}}
        line=${line:${#COMP_WORDS[i]}}
    done
    gap=${line%%[![:space:]]*}
    local COMP_LINE=${line:${#gap}} COMP_POINT=$((point - ${#gap})) COMP_CWORD=$((COMP_CWORD - start))
    local -a tail
    tail=("${COMP_WORDS[@]:start}")
    local -a COMP_WORDS
    COMP_WORDS=("${tail[@]}")
    local command=${COMP_WORDS[0]} spec function=
    spec=$(complete -p -- "$command" 2>/dev/null || complete -p -- "${command##*/}" 2>/dev/null)
    if [[ $spec == *' -F '* ]]; then
        function=${spec#*' -F '}
        function=${function%% *}
    fi
    if [[ -n $function ]] && declare -F "$function" >/dev/null; then
        "$function" "$command" "$replaced" "${COMP_WORDS[COMP_CWORD - 1]}"
        case $spec in
            *'-o nospace'*) compopt -o nospace 2>/dev/null ;;
        esac
        case $spec in
            *'-o filenames'*) compopt -o filenames 2>/dev/null ;;
        esac
        ((${#COMPREPLY[@]})) || case $spec in
            *'-o default'* | *'-o bashdefault'*) compopt -o default 2>/dev/null ;;
        esac
        return 0
    fi
    _ouro_timer_files "$replaced"
}

complete -F _ouro_timer ouro-timer
