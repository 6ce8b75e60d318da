import { element, momentOf, replace, shape, table } from './element.ts'
import { height, width, type UseChart, type UseView } from './use-view.ts'

/** How full the pool was, a chart for each of its families, and when it will be full. */
export function showUse(place: HTMLElement, views: readonly UseView[]): void {
  const nothing = element('p', {}, 'The use of a pool over time comes here.')
  replace(place, ...(views.length === 0 ? [nothing] : views.map(showFamily)))
}

function showFamily({ family, title, forecast, fullAt, isFull, chart, rows }: UseView): HTMLElement {
  return element(
    'div',
    { class: 'use', role: 'group', 'aria-label': title },
    element('h3', {}, title),
    element(
      'p',
      { class: isFull ? 'forecast full' : 'forecast' },
      forecast,
      ...(fullAt === undefined ? [] : [' (', momentOf(fullAt), ')']),
    ),
    ...(chart ? [draw(chart, `${title}. ${chart.says} ${forecast}`), legend(chart)] : []),
    element(
      'details',
      {},
      element('summary', { 'data-key': `figures ${family}` }, 'In figures'),
      table({
        caption: `${family}, the newest first; times are UTC`,
        header: ['When', 'Leased', 'Kept'],
        numeric: [1, 2],
        rows: rows.map(cells => ({ key: cells[0], cells })),
      }),
    ),
  )
}

function draw({ area, taken, used, forecast, size, top, from, to }: UseChart, says: string): HTMLElement {
  const line = (kind: string, d: string): SVGElement => shape('path', { class: kind, d })
  return element(
    'figure',
    {},
    element('div', { class: 'edge' }, top),
    shape(
      'svg',
      {
        ...{ role: 'img', 'aria-label': says, preserveAspectRatio: 'none' },
        viewBox: `0 0 ${width} ${height}`,
      },
      line('area', area),
      line('taken', taken),
      line('used', used),
      ...(size === undefined ? [] : [line('size', size)]),
      ...(forecast === undefined ? [] : [line('forecast', forecast)]),
    ),
    element('div', { class: 'edge ends' }, element('span', {}, from), element('span', {}, to)),
  )
}

/** Each line has dashes of its own, so that it needs no colour. */
function legend({ forecast, size }: UseChart): HTMLElement {
  const items = [
    ['used', 'leased'],
    ['taken', 'leased and kept'],
    ...(size === undefined ? [] : [['size', 'size of the pool'] as const]),
    ...(forecast === undefined ? [] : [['forecast', 'forecast'] as const]),
  ] as const
  return element(
    'ul',
    { class: 'path lines', 'aria-hidden': 'true' },
    ...items.map(([kind = '', text = '']) =>
      element(
        'li',
        {},
        shape(
          'svg',
          { viewBox: '0 0 30 10', class: 'sample' },
          shape('path', { class: kind, d: 'M0,5L30,5' }),
        ),
        ` ${text}`,
      ),
    ),
  )
}
