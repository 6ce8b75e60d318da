import t from 'tap'
import { readEnvironment, type Environment } from '../../../shared/cni/environment.ts'
import { verbs } from '../../../shared/cni/versions.ts'

const complete = {
  CNI_CONTAINERID: 'some-container-id',
  CNI_NETNS: '/some/netns/path',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/some/cni/path',
}

const required = {
  ADD: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  CHECK: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_CONTAINERID', 'CNI_IFNAME', 'CNI_PATH'],
  GC: ['CNI_PATH'],
  STATUS: ['CNI_PATH'],
  VERSION: [],
} as const

t.test('what each verb requires: B1', t => {
  for (const verb of verbs) {
    const list = required[verb].join(',')
    if (list !== '') {
      const message = `required env variables [${list}] missing`
      t.throws(
        () => readEnvironment({ CNI_COMMAND: verb }),
        { code: 'IPK_ENVIRONMENT', message },
        `${verb}, bare`,
      )
    } else {
      t.equal(readEnvironment({ CNI_COMMAND: verb }).verb, verb)
    }
    for (const name of Object.keys(complete)) {
      const run = (): unknown => readEnvironment({ ...complete, CNI_COMMAND: verb, [name]: '' })
      const needed = required[verb].some(other => other === name)
      if (needed)
        t.throws(run, { message: `required env variables [${name}] missing` }, `${verb} without ${name}`)
      else t.doesNotThrow(run, `${verb} does not need ${name}`)
    }
  }
  t.throws(() => readEnvironment({}), { message: 'required env variables [CNI_COMMAND] missing' })
  t.end()
})

t.test('values: B2-B4, B7', t => {
  const cases: readonly [env: Environment, message: string, details: string][] = [
    [{ CNI_CONTAINERID: '%%' }, 'invalid characters in containerID', 'CNI_CONTAINERID: %%'],
    [{ CNI_IFNAME: '..' }, 'interface name is . or ..', 'CNI_IFNAME: ..'],
    [
      { CNI_IFNAME: 'a'.repeat(16) },
      'interface name is too long',
      'CNI_IFNAME: interface name should be less than 16 characters',
    ],
    [
      { CNI_CONTAINERID: '%', CNI_NETNS: '', CNI_PATH: '' },
      'invalid characters in containerID',
      'CNI_CONTAINERID: %',
    ],
    [
      { CNI_CONTAINERID: '', CNI_IFNAME: 'a/b' },
      'interface name contains / or : or whitespace characters',
      'CNI_IFNAME: a/b',
    ],
  ]
  for (const [env, message, details] of cases) {
    const run = (): unknown => readEnvironment({ ...complete, CNI_COMMAND: 'ADD', ...env })
    t.throws(run, { code: 'IPK_ENVIRONMENT', message, details }, JSON.stringify(env))
  }
  const unused = { CNI_CONTAINERID: '%', CNI_IFNAME: 'a/b' }
  for (const verb of ['GC', 'STATUS', 'VERSION']) {
    t.doesNotThrow(
      () => readEnvironment({ ...complete, ...unused, CNI_COMMAND: verb }),
      `${verb} does not look`,
    )
  }
  t.end()
})

t.test('a command that is no verb passes: B5', t => {
  for (const command of ['NOPE', 'add', 'toString']) {
    t.match(readEnvironment({ CNI_COMMAND: command }), { command, verb: undefined })
  }
  t.end()
})

t.test('the invocation', t => {
  t.same(readEnvironment({ ...complete, CNI_COMMAND: 'ADD', CNI_ARGS: 'IgnoreUnknown=1' }), {
    command: 'ADD',
    verb: 'ADD',
    containerId: 'some-container-id',
    netns: '/some/netns/path',
    ifname: 'eth0',
    args: 'IgnoreUnknown=1',
    path: '/some/cni/path',
    netnsOverride: false,
  })
  for (const [value, meant] of [
    ['1', true],
    ['true', true],
    ['TRUE', true],
    ['0', false],
    ['yes', false],
  ] as const) {
    t.equal(
      readEnvironment({ CNI_COMMAND: 'VERSION', CNI_NETNS_OVERRIDE: value }).netnsOverride,
      meant,
      value,
    )
  }
  t.end()
})
