import { shellLine } from '../../../../shared/text/shell-word.ts'
import type { CommandHint } from './command-view.ts'
import { element } from './element.ts'

/** @param here a command as it works on the node of the daemon */
export function commandList(rows: readonly CommandHint[], here: (command: string) => string): HTMLElement {
  return element(
    'ul',
    { class: 'commands' },
    ...rows.map(({ what, words }) =>
      element('li', {}, `${what}: `, element('code', {}, here(shellLine(words)))),
    ),
  )
}
