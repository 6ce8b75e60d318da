/** One sample of a page in Prometheus' text format. */
export interface PageSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The samples of a page. Throws on a line that is none: the format is that of the text exposition 0.0.4. */
export function readPage(text: string): readonly PageSample[] {
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [, name, labels = '', value] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`)
      const pairs = Array.from(
        labels.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g),
        ([, key = '', text_ = '']): [string, string] => [key, text_],
      )
      return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) }
    })
}

/** The value of the one sample that has these labels, whatever others it has; undefined when there is none. */
export function valueOf(
  page: readonly PageSample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = page.filter(
    sample =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  if (found.length > 1) throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`)
  return found[0]?.value
}
