import fc from 'fast-check'
import t from 'tap'
import { parseCniArgs, soundArgs, type CniArgs } from '../../../shared/cni/cni-args.ts'

t.test('accepted', t => {
  const cases: readonly [text: string, args: CniArgs][] = [
    ['', {}],
    ['IP=10.1.1.1/24', { ip: '10.1.1.1/24' }],
    ['IP=10.1.1.1;IP=10.1.1.2', { ip: '10.1.1.2' }],
    ['IP=10.1.1.1;IP=', {}],
    ['MAC=02:00:00:00:00:01;GATEWAY=10.1.1.1', { mac: '02:00:00:00:00:01', gateway: '10.1.1.1' }],
    ['IgnoreUnknown=1;FOO=bar', {}],
    ['FOO=bar;IgnoreUnknown=TRUE', {}],
    ['IgnoreUnknown=true;FOO=', {}],
    ['IgnoreUnknown=0', {}],
    [
      'K8S_POD_UID=u;IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_INFRA_CONTAINER_ID=abc;K8S_POD_NAME=web-0',
      { podNamespace: 'shop', podName: 'web-0', podUid: 'u', infraContainerId: 'abc' },
    ],
  ]
  for (const [text, args] of cases) t.same(soundArgs(parseCniArgs(text)), args, text)
  t.end()
})

t.test('refused where it has to be sound: I1', t => {
  const cases: readonly [text: string, message: string, understood: CniArgs][] = [
    ['IgnoreUnknown=1;', 'ARGS: invalid pair ""', {}],
    ['IgnoreUnknown=1;;IP=10.1.1.1/24', 'ARGS: invalid pair ""', { ip: '10.1.1.1/24' }],
    ['IgnoreUnknown=1;FOO', 'ARGS: invalid pair "FOO"', {}],
    ['IP=a=b;MAC=c', 'ARGS: invalid pair "IP=a=b"', { mac: 'c' }],
    ['IP=10.1.1.1/24;FOO=bar', 'ARGS: unknown args ["FOO=bar"]', { ip: '10.1.1.1/24' }],
    ['A=1;B=2', 'ARGS: unknown args ["A=1" "B=2"]', {}],
    ['ip=10.1.1.1', 'ARGS: unknown args ["ip=10.1.1.1"]', {}],
    ['IgnoreUnknown=0;FOO=1', 'ARGS: unknown args ["FOO=1"]', {}],
    ['toString=1', 'ARGS: unknown args ["toString=1"]', {}],
    [
      'IgnoreUnknown=yes',
      'ARGS: error parsing value of pair "IgnoreUnknown=yes": boolean unmarshal error: invalid input yes',
      {},
    ],
  ]
  for (const [text, message, understood] of cases) {
    t.throws(() => soundArgs(parseCniArgs(text)), { code: 'IPK_ARGS_INVALID', message }, text)
    t.same(parseCniArgs(text).args, understood, `what is understood of ${text}`)
  }
  t.end()
})

t.test('property: never throws, and has a fault or every pair', t => {
  const piece = fc.constantFrom('IP', 'MAC', 'FOO', 'IgnoreUnknown', '=', ';', '1', 'a', 'K8S_POD_NAME')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map(parts => parts.join('')),
        fc.string(),
      ),
      text => {
        const { args, fault } = parseCniArgs(text)
        if (fault) return fault.code === 'IPK_ARGS_INVALID'
        const pairs = new Map(text.split(';').map(pair => pair.split('=') as [string, string | undefined]))
        return (
          args.ip === (pairs.get('IP') || undefined) &&
          args.mac === (pairs.get('MAC') || undefined) &&
          args.podName === (pairs.get('K8S_POD_NAME') || undefined)
        )
      },
    ),
    { numRuns: 500 },
  )
  t.pass()
  t.end()
})
