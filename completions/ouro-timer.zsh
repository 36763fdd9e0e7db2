#compdef ouro-timer
# Completion of ouro-timer for zsh. In ~/.zshrc, after compinit:
#
#     source <(ouro-timer completion zsh)
#
# or as a file named _ouro-timer in a folder of fpath. The words typed so far are handed to "ouro-timer __complete" without
# their quotes. Nothing here evaluates or expands them; that is why _call_program, which does, is not used.

_ouro-timer() {
  # A program called by its path answers for itself.
  local program=ouro-timer typed=${(Q)words[1]}
  if [[ $typed == */* ]]; then
    [[ $typed == '~/'* ]] && typed=$HOME/${typed[3,-1]}
    [[ -f $typed && -x $typed ]] && program=$typed
  fi

  local -a before
  (( CURRENT > 2 )) && before=("${(@Q)words[2,CURRENT-1]}")
  local reply
  reply=$(command "$program" __complete -- "${before[@]}" "${(Q)IPREFIX}${(Q)PREFIX}" 2>/dev/null </dev/null) || return 1

  case $reply in
    ('') return 1 ;;
    (:files)
      # In --file=NAME only the name is looked for.
      [[ $PREFIX == --*=* ]] && compset -P '--[^=]#='
      _files
      return ;;
    (':command '*)
      local -i skip=${reply#:command }
      words=("${(@)words[skip+1,-1]}")
      (( CURRENT -= skip ))
      _normal -p ouro-timer
      return ;;
  esac

  # _describe takes "word:description", with a backslash before a colon of the word and before each other backslash.
  local -a offers
  local line word about
  for line in "${(@f)reply}"; do
    word=${line%%$'\t'*} about=${${line#*$'\t'}//\\/\\\\}
    offers+=("${word//:/\\:}${about:+:$about}")
  done
  _describe -V -t ouro-timer 'ouro-timer' offers
}

if [[ ${funcstack[1]-} == _ouro-timer ]]; then
  _ouro-timer "$@"
elif (( ${+functions[compdef]} )); then
  compdef _ouro-timer ouro-timer
else
  print -u2 'ouro-timer: the completion for zsh needs "autoload -Uz compinit && compinit" before it'
fi
