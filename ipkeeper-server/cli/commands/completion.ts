import { Problem } from '../../../shared/problem/problem.ts'
import { command } from '../framework/command.ts'
import { shells, shellScripts } from '../completion/shell-scripts.ts'

export const completionCommand = command({
  name: 'completion',
  arguments: [{ name: 'SHELL', text: 'bash, zsh or fish', offers: shells }],
  summary: 'print what teaches a shell to complete words of this tool; needs no daemon',
  about: [
    'Commands, options and files are completed everywhere. Addresses, pods, pools and the like are those that the daemon of this node knows; where it does not answer at once, nothing is offered.',
  ],
  options: {},
  examples: [
    {
      line: 'source <(ipkeeperctl completion bash)',
      does: 'for this bash; needs no package bash-completion',
    },
    {
      line: 'ipkeeperctl completion bash > /etc/bash_completion.d/ipkeeperctl',
      does: 'for every bash, where bash-completion is',
    },
    {
      line: 'ipkeeperctl completion zsh > /usr/local/share/zsh/site-functions/_ipkeeperctl',
      does: 'for every zsh that runs compinit',
    },
    {
      line: 'ipkeeperctl completion fish > /etc/fish/completions/ipkeeperctl.fish',
      does: 'for every fish',
    },
  ],
  run: (_daemon, { positionals: [word] }) => {
    const shell = shells.find(known => known === word)
    if (!shell) throw new Problem('IPK_USAGE', `"${word ?? ''}" is none of ${shells.join(', ')}`)
    return Promise.resolve({ shell, script: shellScripts[shell] })
  },
  print: ({ script }) => script,
})
