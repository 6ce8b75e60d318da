import { captureNames, type CaptureName } from './text-group.ts'

/**
 * Templates of known texts: literal text, in which <NAME> stands for a capture, <n> for a number, <word> for up to 40
 * characters and <...> for up to 200. They are compared without white space and without regard to case, since terminals,
 * YAML and people break lines anywhere.
 *
 * All repetitions are bounded and a template has at most one gap, so that a hostile text costs time in proportion to its
 * length. Nothing matches a line break, which here stands only between two statements.
 */
const id = '[A-Za-z0-9][A-Za-z0-9_.-]{0,252}'

const captures: Readonly<Record<CaptureName, string>> = {
  network: id,
  containerId: id,
  plugin: '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}',
  path: '/[A-Za-z0-9_./@%+~-]{0,255}',
  socket: '/[A-Za-z0-9_./@%+~-]{0,107}',
  pod: '[a-z0-9][a-z0-9.-]{0,252}/[a-z0-9][a-z0-9.-]{0,252}',
  address: '(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3}|[0-9a-fA-F]{1,4}:[0-9a-fA-F:]{1,38})',
  ifname: '[A-Za-z0-9][A-Za-z0-9_.-]{0,14}',
}

const gaps: Readonly<Record<string, string>> = {
  n: '[0-9]{1,9}',
  word: '[^\\n]{1,40}?',
  '...': '[^\\n]{0,200}?',
  /** Nothing more is said. */
  end: '(?=["\'\\n]|$)',
  /** What containerd and CRI-O make of a pod: NAME_NAMESPACE_UID_ATTEMPT. */
  sandbox: '(?<podName>[a-z0-9][a-z0-9.-]{0,252})_(?<podNamespace>[a-z0-9][a-z0-9-]{0,62})_[^\\n"\']{1,60}?',
  /** What dockershim made of one: NAME_NAMESPACE. */
  oldpod: '(?<podName>[a-z0-9][a-z0-9.-]{0,252})_(?<podNamespace>[a-z0-9][a-z0-9-]{0,62})',
}

const isCapture = (name: string): name is CaptureName => (captureNames as readonly string[]).includes(name)

/** The pattern of a template; throws for a placeholder that is none. */
export function compileTemplate(template: string): RegExp {
  const parts = template.split(/(<[a-zA-Z.]{1,20}>)/)
  const source = parts.map(part => {
    const name = /^<(.+)>$/.exec(part)?.[1]
    if (name === undefined) return part.replaceAll(/\s+/g, '').replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
    if (isCapture(name)) return `(?<${name}>${captures[name]})`
    const gap = gaps[name]
    if (gap === undefined) throw new Error(`template "${template}" has no placeholder <${name}>`)
    return gap
  })
  return new RegExp(source.join(''), 'dgi')
}
