import t from 'tap'
import { placeHere, problemHere } from '../../../../ipkeeper-server/cli/framework/here.ts'
import { defaultPaths } from '../../../../shared/paths.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

t.test('where somebody types', t => {
  const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', IPKEEPER_NODE: 'n1', IPKEEPER_POD: 'p' }
  const odd = { IPKEEPER_SOCKET: '/e/s', IPKEEPER_STATE_DIR: '/e/d' }
  const told = (socket?: string, stateDir?: string) => ({ socket, stateDir })
  for (const [what, given, env, place] of [
    ['nothing said', told(), {}, { toolIsHere: true, ...told() }],
    ['the usual paths', told(defaultPaths.socket, defaultPaths.stateDir), {}, told()],
    ['other paths', told('/s', '/d'), {}, told('/s', '/d')],
    ['other paths that the environment has', told('/e/s', '/e/d'), odd, told()],
    [
      'the usual paths against the environment',
      told(defaultPaths.socket, defaultPaths.stateDir),
      odd,
      told(defaultPaths.socket, defaultPaths.stateDir),
    ],
    ['an environment that says nothing', told('/s'), { IPKEEPER_SOCKET: '' }, told('/s')],
    ['in the pod', told(), inPod, { toolIsHere: false, startedAs: { service: 'pod', node: 'n1', pod: 'p' } }],
  ] as const)
    t.match(placeHere(given, { env }), place, what)
  t.end()
})

t.test('a problem advises what works there, and is the same otherwise', t => {
  const place = { socket: '/s' }
  const cause = new Error('why')
  const problem = new Problem('IPK_DAEMON_UNREACHABLE', 'away', { hint: 'see: ipkeeperctl status', cause })
  t.match(problemHere(problem, place), {
    ...{ code: 'IPK_DAEMON_UNREACHABLE', message: 'away', cause },
    hint: 'see: ipkeeperctl status --socket /s',
  })
  const usage = new Problem('IPK_USAGE', 'wrong', { hint: 'ipkeeperctl pools POOL' })
  for (const error of [usage, cause]) t.equal(problemHere(error, place), error)
  t.end()
})
