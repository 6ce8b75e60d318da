import { cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Shell, shells, shellScripts } from '../ipkeeper-server/cli/commands/completion.ts'

/** Where each shell looks for completion, below /usr/share and /usr/local/share. */
const completionPaths: Readonly<Record<Shell, string>> = {
  bash: 'bash-completion/completions/ipkeeperctl',
  zsh: 'zsh/site-functions/_ipkeeperctl',
  fish: 'fish/vendor_completions.d/ipkeeperctl.fish',
}

/** Lays out what goes to PREFIX/share: manual pages, completion and the documentation. */
export function writeShare(folder: string): void {
  cpSync(join(import.meta.dirname, '..', 'docs', 'reference', 'man'), join(folder, 'man', 'man8'), {
    recursive: true,
  })
  // Hints name pages: where these are installed, the path can be opened.
  cpSync(join(import.meta.dirname, '..', 'docs'), join(folder, 'doc', 'ipkeeper', 'docs'), {
    recursive: true,
    filter: path => statSync(path).isDirectory() || path.endsWith('.md'),
  })
  for (const shell of shells) {
    const path = join(folder, completionPaths[shell])
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, shellScripts[shell])
  }
}
