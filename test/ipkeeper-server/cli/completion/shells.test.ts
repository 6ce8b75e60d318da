/** Completion in the real shells, on a terminal, against a real application on its socket. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Shell, shells } from '../../../../ipkeeper-server/cli/commands/completion.ts'
import { missing } from '../../../rigs/requirements.ts'
import { mustRun } from '../../../rigs/run-program.ts'
import { serveLeases } from '../../../rigs/served-leases.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { openTerminal, type TerminalSession } from '../../../rigs/terminal-session.ts'

const main = join(import.meta.dirname, '..', '..', '..', '..', 'ipkeeper-server', 'main.ts')
const TAB = '\t'

/** A daemon's socket, and a PATH with the tool under both its names. */
async function toolsOnPath(t: Test) {
  const { story, socket } = await serveLeases(t)
  story.now = Date.now()
  const folder = tempFolder(t)
  await story.add({ pod: 'web-0', container: 'c1', ip: '10.22.0.50' })
  await story.add({ pod: 'web-1', container: 'c2', ip: '10.22.0.61', retain: '30m' })
  await story.del('c2')
  const bin = folder.file('bin')
  mkdirSync(bin)
  const names = { ipkeeperctl: 'ctl ', 'ipkeeper-server': '' }
  for (const [name, words] of Object.entries(names)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${main}' ${words}"$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  mkdirSync(folder.file('home'))
  const script = folder.file('completion')
  writeFileSync(script, await mustRun(join(bin, 'ipkeeperctl'), ['completion', 'bash']))
  return { story, folder, socket, bin }
}

/** How each shell begins without anybody's settings, and reads the script. */
const starts: Readonly<Record<Shell, string>> = {
  bash: 'bash --norc --noprofile -i',
  zsh: 'zsh -f -i',
  fish: 'fish --no-config -i',
}
const setUps: Readonly<Record<Shell, string>> = {
  bash: "bind 'set bell-style none'; source <(ipkeeperctl completion bash); PS1='ready> '",
  zsh: "PS1='ready> '; autoload -U compinit; compinit -u -D; source <(ipkeeperctl completion zsh)",
  fish: 'function fish_prompt; echo "ready> "; end; ipkeeperctl completion fish | source',
}

for (const shell of shells) {
  t.test(shell, { skip: missing(shell, 'terminal') }, async t => {
    const { folder, socket, bin } = await toolsOnPath(t)
    writeFileSync(folder.file('home/pods.yaml'), '')
    mkdirSync(folder.file('home/pools.d'))
    const session: TerminalSession = openTerminal(`cd '${folder.file('home')}'; exec ${starts[shell]}`, {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: folder.file('home'),
      IPKEEPER_SOCKET: socket,
    })
    t.teardown(() => {
      session.kill()
    })
    session.type(`${setUps[shell]}; echo "set"" up"\n`)
    await session.see(/set up/)
    await session.see(/ready> /)
    // The shell's own echo of the words that completion made of a line.
    for (const [keys, became] of [
      ['ipkeeperctl atta', /attachments /],
      ['ipkeeperctl unr', /unreserve /],
      ['ipkeeperctl cache sc', /cache scan /],
      ['ipkeeperctl history 10.22.0.5', /10\.22\.0\.50 /],
      ['ipkeeperctl release 1', /10\.22\.0\.61 /],
      ['ipkeeperctl leases --pool n', /--pool net /],
      ['ipkeeperctl leases --pool=n', /--pool=net /],
      ['ipkeeperctl flights --verb ST', /STATUS /],
      ['ipkeeperctl explain shop/web-0', /shop\/web-0 /],
      ['ipkeeperctl explain --manifest pod', /pods\.yaml/],
      ['ipkeeperctl doctor --conf-dir po', /pools\.d\//],
      ['ipkeeper-server check', /check-config /],
      ['ipkeeper-server ctl rese', /reserv/],
    ] as const) {
      session.type(`${keys}${TAB}`)
      t.match(await session.see(became), became, `${keys}TAB`)
      // Ctrl-A goes to the front of the line, and ":" does nothing with the words behind it.
      session.type('\u0001: \n')
      await session.see(/ready> /)
    }
    session.type('exit\n')
  })
}
