/** Remedies of the plugin's own: what it says is what all of shared/remedy/ would, which it does without for its start. */
import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { noteStartedAs } from '../../ipkeeper-server/host/started-as.ts'
import { remedyHere } from '../../plugin/remedy-here.ts'
import { defaultPaths } from '../../shared/paths.ts'
import { catalogue, problemRow, type ProblemCode } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { remedyHere as said } from '../../shared/remedy/place.ts'
import type { StartedAs } from '../../shared/remedy/service-lines.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'

const sources = globSync(['plugin/**/*.ts', 'shared/{cni,json,net,problem,text}/*.ts', 'shared/*.ts'], {
  exclude: path => /generated|catalogue/.test(path),
})
const text = sources.map(path => readFileSync(path, 'utf8')).join('')
/** Those that the plugin can throw; those with a fixed text are printed without a hint. */
const codes = (Object.keys(catalogue) as ProblemCode[]).filter(
  code => text.includes(`'${code}'`) && problemRow(code).fixedText !== true,
)

t.test('hints of the plugin where the daemon runs otherwise than by systemd on the usual paths', t => {
  const folder = makeTempFolder()
  t.teardown(() => {
    folder.remove()
  })
  const stateDir = folder.path
  const services: readonly (StartedAs | undefined)[] = [
    undefined,
    { service: 'container' },
    { service: 'pod', namespace: 'ipkeeper-system', node: 'n1' },
  ]
  t.ok(codes.includes('IPK_DAEMON_UNREACHABLE') && codes.includes('IPK_DEL_NOT_QUEUED'))
  for (const startedAs of services)
    for (const socket of [defaultPaths.socket, '/s/a b']) {
      noteStartedAs(stateDir, startedAs, socket)
      for (const code of codes) {
        const document = new Problem(code, '').toDocument()
        const { hint } = remedyHere(document, stateDir)
        t.equal(hint, said(document.hint, { startedAs, socket }), `${code} ${startedAs?.service ?? 'unit'}`)
      }
    }
  t.end()
})
