"""`at-k completion`: a script with which bash or zsh completes commands, flags and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_SCRIPT = """\
# Completion of at-k. Add this line to ~/.bashrc, or below `autoload -U bashcompinit; bashcompinit`
# to ~/.zshrc:
#   eval "$(at-k completion)"
_at_k() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" = 1 ]; then
    words="{commands}"
  else
    case $word in -*) case ${{COMP_WORDS[1]}} in
{cases}
    esac ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _at_k at-k"""


def completion_script(flags: Mapping[str, Sequence[str]]) -> str:
    """Return the script, in which words that are neither commands nor flags are files.

    Args:
        flags: the flags of each command.
    """
    cases = [f'      {name}) words="{" ".join(found)}" ;;' for name, found in flags.items()]
    return _SCRIPT.format(commands=" ".join(flags), cases="\n".join(cases))
