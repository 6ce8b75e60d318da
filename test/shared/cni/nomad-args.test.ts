/** CNI_ARGS as Nomad writes them: its own keys and the job's in one map, joined in random order. */
import fc from 'fast-check'
import t from 'tap'
import { parseCniArgs, soundArgs, type CniArgs } from '../../../shared/cni/cni-args.ts'

const id = '5b0ff3f4-6f0c-4d4f-9b0e-0c5b2b1f6a11'
const keys = {
  IgnoreUnknown: 'true',
  NOMAD_REGION: 'global',
  NOMAD_NAMESPACE: 'default',
  NOMAD_JOB_ID: 'web',
  NOMAD_GROUP_NAME: 'cache',
  NOMAD_ALLOC_ID: id,
}

const joined = (pairs: object, ...more: readonly string[]): string =>
  [...Object.entries(pairs).map(([key, value]) => `${key}=${String(value)}`), ...more].join(';')

const withKeys = (patch: Readonly<Record<string, string>>): string => joined({ ...keys, ...patch })

/** Without some of the keys. */
const without = (...names: readonly string[]): string =>
  joined(Object.fromEntries(Object.entries(keys).filter(([key]) => !names.includes(key))))

const web = { namespace: 'default', job: 'web', group: 'cache', id }

t.test('an allocation, and what its job asks for', t => {
  const cases: readonly [text: string, args: CniArgs][] = [
    [joined(keys), { nomad: web }],
    [joined(keys).split(';').reverse().join(';'), { nomad: web }],
    [
      withKeys({ IP: '10.22.0.50', MAC: '02:00:00:00:00:01' }),
      { ip: '10.22.0.50', mac: '02:00:00:00:00:01', nomad: web },
    ],
    [withKeys({ NOMAD_ALLOC_INDEX: '0' }), { nomad: { ...web, index: 0 } }],
    [withKeys({ NOMAD_ALLOC_INDEX: '12' }), { nomad: { ...web, index: 12 } }],
    [withKeys({ NOMAD_ALLOC_INDEX: '' }), { nomad: web }],
    [withKeys({ CONSUL_IPTABLES_CONFIG: '{"a":1}' }), { nomad: web }],
    [withKeys({ NOMAD_REGION: 'a b' }), { nomad: web }],
    [
      withKeys({
        NOMAD_JOB_ID: 'team/Nightly_1/periodic-1700000000',
        NOMAD_GROUP_NAME: 'g.1',
        NOMAD_NAMESPACE: 'Shop-1',
      }),
      { nomad: { namespace: 'Shop-1', job: 'team/Nightly_1/periodic-1700000000', group: 'g.1', id } },
    ],
    [withKeys({ NOMAD_JOB_ID: 'j'.repeat(128) }), { nomad: { ...web, job: 'j'.repeat(128) } }],
    // A Nomad that sets none of its keys, or another caller: none of ours.
    [without('NOMAD_ALLOC_ID'), {}],
    [withKeys({ NOMAD_ALLOC_ID: '' }), {}],
    ['IgnoreUnknown=true', {}],
    ['IgnoreUnknown=1;NOMAD_ALLOC_INDEX=x;K8S_POD_NAME=web-0', { podName: 'web-0' }],
  ]
  for (const [text, args] of cases) t.same(soundArgs(parseCniArgs(text)), args, text)
  t.end()
})

t.test('refused, and a DEL goes on without an allocation', t => {
  const cases: readonly [text: string, message: string | RegExp, hint?: RegExp][] = [
    [without('NOMAD_JOB_ID'), 'ARGS: NOMAD_JOB_ID is missing beside NOMAD_ALLOC_ID', /has a semicolon/],
    [without('NOMAD_GROUP_NAME'), 'ARGS: NOMAD_GROUP_NAME is missing beside NOMAD_ALLOC_ID'],
    [without('NOMAD_NAMESPACE'), 'ARGS: NOMAD_NAMESPACE is missing beside NOMAD_ALLOC_ID'],
    [withKeys({ NOMAD_JOB_ID: '' }), 'ARGS: NOMAD_JOB_ID is missing beside NOMAD_ALLOC_ID'],
    [joined(keys, 'NOMAD_JOB_ID=other'), 'ARGS: NOMAD_JOB_ID is given twice', /of the job/],
    [joined(keys, 'NOMAD_JOB_ID=web'), 'ARGS: NOMAD_JOB_ID is given twice'],
    [`NOMAD_NAMESPACE=;${joined(keys)}`, 'ARGS: NOMAD_NAMESPACE is given twice'],
    [withKeys({ FOO: `x;NOMAD_ALLOC_ID=${id}` }), 'ARGS: NOMAD_ALLOC_ID is given twice'],
    [withKeys({ NOMAD_ALLOC_INDEX: '1;NOMAD_ALLOC_INDEX=2' }), 'ARGS: NOMAD_ALLOC_INDEX is given twice'],
    [
      withKeys({ K8S_POD_NAME: 'web-0', K8S_POD_NAMESPACE: 'shop' }),
      /NOMAD_ALLOC_ID and K8S_POD_NAME .* both given/,
      /of the job/,
    ],
    [withKeys({ K8S_POD_NAME: 'web-0' }), /both given/],
    [withKeys({ K8S_POD_NAMESPACE: 'shop' }), /both given/],
    [withKeys({ NOMAD_ALLOC_ID: 'web-0' }), 'ARGS: NOMAD_ALLOC_ID="web-0" is no ID of an allocation'],
    [withKeys({ NOMAD_ALLOC_ID: id.toUpperCase() }), /is no ID of an allocation/],
    [
      withKeys({ NOMAD_ALLOC_INDEX: '${NOMAD_ALLOC_INDEX}' }),
      'ARGS: NOMAD_ALLOC_INDEX="${NOMAD_ALLOC_INDEX}" is no number',
      /variables/,
    ],
    [withKeys({ NOMAD_ALLOC_INDEX: '01' }), /is no number/],
    [withKeys({ NOMAD_ALLOC_INDEX: '-1' }), /is no number/],
    [withKeys({ NOMAD_ALLOC_INDEX: '1234567890' }), /is no number/],
    [
      withKeys({ NOMAD_JOB_ID: 'j'.repeat(129) }),
      'ARGS: NOMAD_JOB_ID has 129 characters, of which 128 are allowed',
    ],
    [withKeys({ NOMAD_GROUP_NAME: 'g'.repeat(81) }), /has 81 characters/],
    [withKeys({ NOMAD_NAMESPACE: 'n'.repeat(64) }), /has 64 characters/],
    ...['a b', 'a\nb', 'ä', 'a[0]', 'a:b', '../x', '/x', '-x', "a'b", '$(x)', 'a*', 'a\\b'].map(
      (job): [string, RegExp] => [withKeys({ NOMAD_JOB_ID: job }), /^ARGS: NOMAD_JOB_ID=".+" has characters/],
    ),
    [
      withKeys({ NOMAD_GROUP_NAME: 'a/b' }),
      'ARGS: NOMAD_GROUP_NAME="a/b" has characters that no holder\'s name may have',
    ],
    [withKeys({ NOMAD_NAMESPACE: 'a.b' }), /NOMAD_NAMESPACE="a\.b" has characters/],
    [withKeys({ NOMAD_JOB_ID: 'a=b' }), 'ARGS: invalid pair "NOMAD_JOB_ID=a=b"'],
  ]
  for (const [text, message, hint] of cases) {
    t.throws(() => soundArgs(parseCniArgs(text)), { code: 'IPK_ARGS_INVALID', message }, text)
    t.equal(parseCniArgs(text).args.nomad, undefined, text)
    if (hint) t.match(parseCniArgs(text).fault?.hint, hint)
  }
  t.end()
})

t.test('property: what a job adds never changes whose allocation it is', t => {
  const piece = fc.constantFrom(
    ...Object.keys(keys),
    'K8S_POD_NAME',
    '=',
    ';',
    'x',
    id,
    'NOMAD_ALLOC_INDEX',
    '1',
  )
  const added = fc.array(piece, { maxLength: 12 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(added, fc.boolean(), (text, first) => {
      const whole = first ? `${text};${joined(keys)}` : `${joined(keys)};${text}`
      const { args, fault } = parseCniArgs(whole)
      if (fault) return fault.code === 'IPK_ARGS_INVALID'
      const whose = { ...args.nomad, index: undefined }
      return JSON.stringify(whose) === JSON.stringify(web)
    }),
    { numRuns: 500 },
  )
  t.pass()
  t.end()
})
