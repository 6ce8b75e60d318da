import { shellLine } from '../../../../shared/text/shell-word.ts'
import type { AboutFact, AboutLine, AboutView } from './about-view.ts'
import { element, replace } from './element.ts'

/** Lines of a fact that are seen at once; of more of them the others are opened. */
const seenAtOnce = 12

/** @param here a command as it works on the node of the daemon */
export function showAbout(
  place: HTMLElement,
  { facts, more }: AboutView,
  here: (command: string) => string,
): void {
  replace(
    place,
    element('dl', {}, ...facts.flatMap(showFact)),
    element('p', {}, 'More free addresses: ', element('code', {}, here(shellLine(more)))),
  )
}

function showFact({ name, lines }: AboutFact, index: number): HTMLElement[] {
  const [seen, others] = [lines.slice(0, seenAtOnce), lines.slice(seenAtOnce)]
  const rest =
    others.length === 0
      ? []
      : [
          element(
            'details',
            {},
            element('summary', { 'data-key': `more ${index}` }, `${others.length} more`),
            ...others.map(showLine),
          ),
        ]
  return [element('dt', {}, name), element('dd', {}, ...seen.map(showLine), ...rest)]
}

const showLine = ({ text, href }: AboutLine): HTMLElement =>
  href === undefined
    ? element('div', {}, text)
    : element('a', { class: 'one', href, 'data-key': `free ${text}` }, text)
