/** A file that is not what its source writes is refused: who believed it would switch the network over, with nothing adopted. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { missing } from '../rigs/requirements.ts'
import { typedSite } from '../rigs/typed-site.ts'

const skip = missing('executables')

const list = (...items: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0' } }
const poolOfCalico = { apiVersion: 'crd.projectcalico.org/v1', kind: 'IPPool', metadata: { name: 'default' } }

const rows: readonly (readonly [what: string, source: string, text: string, exit: number, says: RegExp])[] = [
  ['pods', 'calico', list(pod), 2, /has no IPAMBlock, but Pod /],
  ['one pod as YAML', 'kube-ovn', 'apiVersion: v1\nkind: Pod\n', 2, /has no IP, but Pod /],
  ['a pool of another product', 'whereabouts', list(poolOfCalico), 2, /but IPPool\.crd\.projectcalico\.org /],
  ['a conflist', 'calico', '{ "cniVersion": "1.0.0", "name": "net" }', 2, /but what has no kind /],
  ['an array', 'crd-ipkeeper', '[]', 1, /not what kubectl get -o json/],
  ['a table', 'calico', 'NAME   AGE\n10-0-0-0-26   3d\n', 1, /not what kubectl get -o json/],
  ['nothing', 'calico', '', 1, /not what kubectl get -o json/],
  ['a list without items', 'calico', list(), 0, /nothing to adopt: check that/],
]

t.test('files of other kinds', { skip }, async t => {
  const { daemon, folder } = await typedSite(t, '10.22.0.0/24')
  const file = folder.file('given')
  for (const [what, source, text, exit, says] of rows) {
    writeFileSync(file, text)
    const told = await daemon.control('import', source, '--file', file, '--apply')
    t.match(told, { exit }, what)
    t.match(told.stdout + told.stderr, says, what)
    t.notMatch(told.stdout + told.stderr, /ipam\.type/, what)
  }
})
