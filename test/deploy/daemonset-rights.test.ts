/** What the containers of the DaemonSet may do: nothing that docs/install/kubeadm.md has no line with a reason for. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

interface Container {
  readonly name: string
  readonly securityContext: Readonly<Record<string, unknown>> & {
    readonly capabilities: { readonly drop: readonly string[]; readonly add: readonly string[] }
  }
  readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[]
}

const root = join(import.meta.dirname, '..', '..')
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8')
const { spec } = (
  parse(read('deploy', 'kubernetes', 'base', 'daemonset.yaml')) as {
    spec: { template: { spec: Readonly<Record<string, unknown>> } }
  }
).spec.template
const { initContainers, containers } = spec as unknown as Record<'initContainers' | 'containers', Container[]>
const all = [...initContainers, ...containers]

/** First cells of the table, and its second ones: of which containers it speaks. */
function justified(): readonly string[] {
  const [, section = ''] = read('docs', 'install', 'kubeadm.md').split('## What its containers may do')
  return [
    ...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` \| ([a-z, ]+) \| [^|]{20,} \|$/gm),
  ].flatMap(([, right = '', whose = '']) => whose.split(', ').map(name => `${name}: ${right}`))
}

t.test('each right has its line, and each line its right', t => {
  const rights = all.flatMap(({ name, securityContext, volumeMounts }) =>
    [
      ...securityContext.capabilities.add,
      ...('seLinuxOptions' in securityContext ? ['spc_t'] : []),
      ...volumeMounts.map(({ mountPath, readOnly }) => `${mountPath} ${readOnly ? 'ro' : 'rw'}`),
      ...['hostNetwork', 'hostPID', 'hostIPC'].filter(key => spec[key] === true),
    ].map(right => `${name}: ${right}`),
  )
  t.strictSame([...rights].sort(), [...justified()].sort())
  t.end()
})

t.test('whatever can be without is', t => {
  t.match(spec['securityContext'], { seccompProfile: { type: 'RuntimeDefault' } })
  for (const { name, securityContext } of all) {
    t.equal(securityContext['readOnlyRootFilesystem'], true, name)
    t.not(securityContext['privileged'], true, name)
    t.strictSame(securityContext.capabilities.drop, ['ALL'], name)
  }
  t.end()
})
