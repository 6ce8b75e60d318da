/** Environment, CNI_ARGS, names, versions and settings, each against its rule written down a second time. */
import fc from 'fast-check'
import { parseCniArgs, soundArgs } from '../../shared/cni/cni-args.ts'
import { readEnvironment } from '../../shared/cni/environment.ts'
import { containerIdFault, interfaceNameFault, networkNameFault } from '../../shared/cni/identifiers.ts'
import { configVersion, decodeNetworkConfig, networkName, pluginSettings } from '../../shared/cni/netconf.ts'
import { checkVersion } from '../../shared/cni/version-check.ts'
import { isSupportedVersion, isVerb, supportedVersions, verbs } from '../../shared/cni/versions.ts'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { args, environment } from './arbitraries/environment.ts'
import { stdinText } from './arbitraries/netconf.ts'
import { oddOrHugeText, oddText } from './arbitraries/odd-text.ts'
import { property } from './property.ts'

/** What is thrown has to be a problem, with one of these CNI codes. */
function refusal(run: () => unknown, codes: readonly number[]): Problem | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (!(error instanceof Problem) || error.message === '' || !codes.includes(catalogue[error.code].cniCode))
      throw error
    return error
  }
}

export const environments = property({
  name: 'environments',
  runs: 500,
  cases: environment,
  check: env => {
    const problem = refusal(() => readEnvironment(env), [4])
    const command = env['CNI_COMMAND'] ?? ''
    if (problem) {
      // The names of what is wrong are in the error (rows B1, B4).
      const named = `${problem.message} ${problem.details}`.match(/CNI_[A-Z]+/g) ?? []
      if (named.length === 0) throw problem
      if (problem.message.includes('missing') && named.some(name => (env[name] ?? '') !== '')) throw problem
      return 'refused'
    }
    const { verb, containerId, ifname, path } = readEnvironment(env)
    if (isVerb(command) ? verb !== command : verb !== undefined) throw new Error(`verb ${String(verb)}`)
    const needsKey = verb === 'ADD' || verb === 'DEL' || verb === 'CHECK'
    if (needsKey && (containerIdFault(containerId) ?? interfaceNameFault(ifname)))
      throw new Error('a bad name passed')
    if (verb !== undefined && verb !== 'VERSION' && path === '') throw new Error('CNI_PATH is missing')
    return 'accepted'
  },
  shares: { accepted: 40, refused: 5 },
})

const nameLike = fc.oneof(
  { weight: 2, arbitrary: oddOrHugeText },
  { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(...Array.from('aZ09_.-')), maxLength: 17 }) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('a', 'eth0', ''), oddText).map(parts => parts.join('')) },
)

export const names = property({
  name: 'container IDs, network names, interface names',
  runs: 600,
  cases: nameLike,
  check: name => {
    const identifier = name !== '' && /^[a-z0-9]$/i.test(name.slice(0, 1)) && !/[^a-z0-9_.-]/i.test(name)
    if ((containerIdFault(name) === undefined) !== identifier) throw new Error('container ID')
    if ((networkNameFault(name) === undefined) !== identifier) throw new Error('network name')
    const tooLong = Buffer.byteLength(name) > 15
    // Go's unicode.IsSpace is Unicode's property White_Space.
    const odd = Array.from(name).some(each => each === '/' || each === ':' || /\p{White_Space}/u.test(each))
    const link = name !== '' && name !== '.' && name !== '..' && !tooLong && !odd
    if ((interfaceNameFault(name) === undefined) !== link) throw new Error('interface name')
    return identifier ? 'identifier' : link ? 'interface only' : 'neither'
  },
  shares: { identifier: 10, 'interface only': 10, neither: 10 },
})

const argKeys = [
  'K8S_POD_NAMESPACE',
  'K8S_POD_NAME',
  'K8S_POD_UID',
  'K8S_POD_INFRA_CONTAINER_ID',
  'IP',
  'GATEWAY',
  'MAC',
]

export const cniArgs = property({
  name: 'CNI_ARGS',
  runs: 600,
  cases: fc.oneof({ weight: 6, arbitrary: args }, { weight: 1, arbitrary: oddOrHugeText }),
  check: text => {
    const pairs = text === '' ? [] : text.split(';').map(pair => pair.split('='))
    const formed = pairs.every(pair => pair.length === 2)
    const flags = pairs
      .filter(([key]) => key === 'IgnoreUnknown')
      .map(([, value = '']) => value.toLowerCase())
    const flagsFormed = flags.every(flag => ['0', '1', 'true', 'false'].includes(flag))
    const ignores = flags.at(-1) === '1' || flags.at(-1) === 'true'
    const unknown = pairs.some(([key = '']) => key !== 'IgnoreUnknown' && !argKeys.includes(key))
    const accepted = formed && flagsFormed && (ignores || !unknown)
    if ((refusal(() => soundArgs(parseCniArgs(text)), [7]) === undefined) !== accepted)
      throw new Error(`accepted: ${!accepted}`)
    const { args: understood } = parseCniArgs(text)
    for (const [field, key] of [
      ['podName', 'K8S_POD_NAME'],
      ['ip', 'IP'],
      ['mac', 'MAC'],
    ] as const) {
      const value = pairs.findLast(pair => pair.length === 2 && pair[0] === key)?.[1] || undefined
      if (understood[field] !== value) throw new Error(`${key} is ${String(understood[field])}`)
    }
    return accepted ? 'accepted' : 'refused'
  },
  shares: { accepted: 25, refused: 15 },
})

const number = fc.oneof(
  fc.nat(12).map(String),
  fc.constantFrom('', '00', '01', '+1', '-1', '1e0', ' 1', '\u0661', '9'.repeat(20), 'a'),
)
const versionText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', ...supportedVersions) },
  { weight: 3, arbitrary: fc.array(number, { minLength: 1, maxLength: 4 }).map(parts => parts.join('.')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '1',
      '1.0',
      '1.1',
      'v1.0.0',
      '1.0.0 ',
      '01.1.0',
      '1.1.0.0',
      '1.2.0',
      '1.0.1',
      '0.3.2',
    ),
  },
  { weight: 1, arbitrary: oddText },
)

export const versions = property({
  name: 'versions',
  runs: 400,
  cases: fc.record({ verb: fc.constantFrom(...verbs), version: versionText }),
  check: ({ verb, version }) => {
    const problem = refusal(() => checkVersion(verb, version), [1, 6])
    const since = { CHECK: '0.4.0', GC: '1.1.0', STATUS: '1.1.0', ADD: '', DEL: '', VERSION: '' }[verb]
    const spoken = version === '' ? '0.1.0' : version
    const served = isSupportedVersion(spoken) && spoken >= since
    if (served !== (problem === undefined)) throw new Error(problem?.message ?? 'accepted')
    if (problem) return problem.code === 'IPK_CONFIG_UNDECODABLE' ? 'no version' : 'refused'
    if (checkVersion(verb, version) !== spoken) throw new Error('another version')
    return 'accepted'
  },
  shares: { accepted: 15, refused: 15, 'no version': 5 },
})

export const settings = property({
  name: 'configurations as the plugin reads them',
  runs: 800,
  cases: fc.record({ text: stdinText, env: environment }),
  check: ({ text, env }) => {
    const undecodable = refusal(() => decodeNetworkConfig(text), [6])
    if (undecodable) return 'undecodable'
    const config = decodeNetworkConfig(text)
    const nameless = refusal(() => networkName(config), [6, 7])
    const versionless = refusal(() => configVersion(config), [6])
    const problem = refusal(() => pluginSettings(config, env), [6, 7])
    if (problem) return 'settings refused'
    const { socket, stateDir, timeoutSeconds } = pluginSettings(config, env)
    if (![socket, stateDir].every(path => path.startsWith('/'))) throw new Error(`${socket}, ${stateDir}`)
    if (!(timeoutSeconds > 0 && timeoutSeconds <= 86_400)) throw new Error(`timeout ${timeoutSeconds}`)
    return nameless || versionless ? 'name or version refused' : 'accepted'
  },
  shares: { undecodable: 5, 'settings refused': 4, 'name or version refused': 1, accepted: 25 },
})
