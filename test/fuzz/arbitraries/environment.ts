import fc from 'fast-check'
import { verbs } from '../../../shared/cni/versions.ts'
import { oddText } from './odd-text.ts'

/** What CNI_COMMAND may be: mostly a verb, else another spelling of one or nonsense. */
export const command: fc.Arbitrary<string | undefined> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('ADD', 'ADD', 'DEL', ...verbs) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'add',
      'Add',
      ' ADD',
      'ADD\n',
      'DELETE',
      'NOPE',
      '\u212a',
      '__proto__',
      'toString',
    ),
  },
  { weight: 1, arbitrary: fc.option(oddText, { nil: undefined }) },
)

/** CNI_ARGS as runtimes send it, with keys left away, unknown or said twice. */
export const args: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant('IgnoreUnknown=1') },
      {
        weight: 24,
        arbitrary: fc.constantFrom(
          ...['K8S_POD_NAMESPACE=shop', 'K8S_POD_NAME=web-0', 'K8S_POD_UID=u1', 'K8S_POD_NAME=db-0'],
          ...['K8S_POD_UID=', 'K8S_POD_INFRA_CONTAINER_ID=3f2a91c0d1e2', 'MAC=02:42:ac:11:00:02'],
          ...['IP=10.22.0.9', 'IP=10.22.0.9/24', 'IP=10.22.0.9,fd00:22::9', 'IP=', 'GATEWAY=10.22.0.1'],
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          ...['IgnoreUnknown=0', 'IgnoreUnknown=TRUE', 'IgnoreUnknown=yes', 'FOO=bar', 'K8S_POD_NAME', ''],
          ...['IP=10.22.0.256', 'IP=a', 'ip=10.22.0.9', 'A=b=c', '=', 'K8S_POD_NAME==', '__proto__=1'],
        ),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(fc.constantFrom('IP', 'K8S_POD_NAME', 'X'), oddText).map(pair => pair.join('=')),
      },
    ),
    { maxLength: 6 },
  )
  .map(pairs => pairs.join(';'))

/** A value that is mostly good, sometimes absent or empty, sometimes odd. */
const variable = (good: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { weight: 30, arbitrary: good },
    { weight: 1, arbitrary: fc.constantFrom(undefined, '') },
    { weight: 2, arbitrary: oddText },
  )

/** A path that ipkeeper reads from the environment. */
const setting = (path: string): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(undefined, '', path) },
    { weight: 1, arbitrary: fc.constantFrom('relative', './a', ' /a') },
  )

/** The environment of one run of the plugin. */
export const environment: fc.Arbitrary<Readonly<Record<string, string | undefined>>> = fc.record({
  CNI_COMMAND: command,
  CNI_CONTAINERID: variable(fc.constantFrom('c1', 'c2', '3f2a91c0d1e2', 'A_.-', '0')),
  CNI_NETNS: variable(fc.constantFrom('/run/netns/a', '/proc/1/ns/net', 'not found', 'x')),
  CNI_IFNAME: variable(fc.constantFrom('eth0', 'eth0', 'net1', '%d', 'x'.repeat(15), '...')),
  CNI_PATH: variable(fc.constantFrom('/opt/cni/bin', 'dummy', '/a:/b')),
  CNI_ARGS: fc.oneof(
    { weight: 3, arbitrary: args },
    { weight: 1, arbitrary: fc.constantFrom(undefined, '') },
  ),
  CNI_NETNS_OVERRIDE: fc.constantFrom(undefined, undefined, '', '0', '1', 'true', 'TRUE', 'x'),
  IPKEEPER_SOCKET: setting('/run/a.sock'),
  IPKEEPER_STATE_DIR: setting('/var/lib/a'),
})
