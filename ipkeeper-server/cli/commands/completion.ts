import { completeWord } from '../completion/complete-call.ts'
import { command } from '../framework/command.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** Shells that can be taught to complete. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

const note = 'Made by "ipkeeperctl completion". What fits is asked of the tool itself at each TAB.'

/** Sourced, or in a folder of the shell. They need nothing but the shell: no bash-completion. */
export const shellScripts: Readonly<Record<Shell, string>> = {
  bash: `# ${note}
_ipkeeperctl() {
  local tool=("$1") lines=() line
  COMPREPLY=()
  [[ \${1##*/} == ipkeeper-server ]] && tool+=(ctl)
  while IFS= read -r line; do
    lines+=("$line")
  done < <("\${tool[@]}" ${completeWord} bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  case \${lines[0]-} in
    file) compopt -o default ;;
    folder) compopt -o dirnames ;;
    open) compopt -o nospace ;;
  esac
  COMPREPLY=("\${lines[@]:1}")
}
complete -F _ipkeeperctl ipkeeperctl ipkeeper-server
`,
  zsh: `#compdef ipkeeperctl ipkeeper-server
# ${note}
_ipkeeperctl() {
  local -a tool lines found
  local line
  tool=("\${(Q)words[1]}")
  [[ \${tool[1]:t} == ipkeeper-server ]] && tool+=(ctl)
  lines=("\${(@f)$("\${tool[@]}" ${completeWord} zsh "\${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    file) compset -P 1 '--*='; _files; return ;;
    folder) compset -P 1 '--*='; _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if [[ $lines[1] == open ]]; then
    _describe -t values value found -S ''
  else
    _describe -t values value found
  fi
}
if [[ $funcstack[1] == _ipkeeperctl ]]; then
  _ipkeeperctl "$@"
else
  compdef _ipkeeperctl ipkeeperctl ipkeeper-server
fi
`,
  fish: `# ${note}
function __ipkeeperctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l tool $words[1]
    if test (path basename -- $tool) = ipkeeper-server
        set -a tool ctl
    end
    set -l lines (command $tool ${completeWord} fish $words "$current" 2>/dev/null)
    set -l what $lines[1]
    set -e lines[1]
    switch "$what"
        case file
            __fish_complete_path "$current"
        case folder
            __fish_complete_directories "$current"
        case '*'
            printf '%s\\n' $lines
    end
end
complete -c ipkeeperctl -f -a '(__ipkeeperctl_complete)'
complete -c ipkeeper-server -f -a '(__ipkeeperctl_complete)'
`,
}

export const completionCommand = command({
  name: 'completion',
  arguments: [{ name: 'SHELL', text: 'bash, zsh or fish', offers: shells }],
  summary: 'Print a completion script for a shell; needs no daemon',
  about: [
    'Commands, options and files are always completed. Addresses, pods, pools and other names come from the daemon of this node; if it does not answer at once, none are suggested.',
  ],
  options: {},
  examples: [
    {
      line: 'source <(ipkeeperctl completion bash)',
      does: 'Enable it in this bash, without the bash-completion package',
    },
    {
      line: 'ipkeeperctl completion bash > /etc/bash_completion.d/ipkeeperctl',
      does: 'Enable it in every bash, with the bash-completion package',
    },
    {
      line: 'ipkeeperctl completion zsh > /usr/local/share/zsh/site-functions/_ipkeeperctl',
      does: 'Enable it in every zsh that runs compinit',
    },
    {
      line: 'ipkeeperctl completion fish > /etc/fish/completions/ipkeeperctl.fish',
      does: 'Enable it in every fish',
    },
  ],
  run: (_daemon, { positionals: [word] }) => {
    const shell = shells.find(known => known === word)
    if (!shell) throw new Problem('IPK_USAGE', `"${word ?? ''}" is not one of ${shells.join(', ')}`)
    return Promise.resolve({ shell, script: shellScripts[shell] })
  },
  print: ({ script }) => script,
})
