import { Problem } from '../problem/problem.ts'
import {
  isSupportedVersion,
  latestVersion,
  supportedVersions,
  verbSince,
  type CniVersion,
  type Verb,
} from './versions.ts'

type Numbers = readonly [major: number, minor: number, micro: number]

/** Go's %q of a string: near enough to JSON for what a version may contain. */
const quote = (text: string): string => JSON.stringify(text)

function parsePart(text: string, name: string): number {
  // strconv.Atoi's own words, which the reference shows to its users.
  const fail = (why: string): Problem =>
    new Problem(
      'IPK_CONFIG_UNDECODABLE',
      `failed to convert ${name} version part ${quote(text)}: strconv.Atoi: parsing ${quote(text)}: ${why}`,
    )
  if (!/^[+-]?[0-9]+$/.test(text)) throw fail('invalid syntax')
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw fail('value out of range')
  return value
}

/** One to three numbers joined by points; what is left away is 0. */
function parseVersion(version: string): Numbers {
  const [major = '', minor, micro, ...more] = version.split('.')
  if (more.length > 0) {
    throw new Problem('IPK_CONFIG_UNDECODABLE', `invalid version ${quote(version)}: too many parts`)
  }
  return [
    parsePart(major, 'major'),
    minor === undefined ? 0 : parsePart(minor, 'minor'),
    micro === undefined ? 0 : parsePart(micro, 'micro'),
  ]
}

function atLeast(version: Numbers, other: Numbers): boolean {
  const difference = version[0] - other[0] || version[1] - other[1] || version[2] - other[2]
  return difference >= 0
}

/**
 * Whether a verb may be served for a configuration of this version ("" stands for 0.1.0), and in which version to
 * answer. Verbs that came later than 0.1.0 compare numbers first, so that their own error comes before the general
 * one; everything else is exact spelling (cni:pkg/skel, pkg/version; cni-protocol D3, D4).
 *
 * @throws Problem IPK_VERSION_INCOMPATIBLE (1), or IPK_CONFIG_UNDECODABLE (6) for a later verb's version of no numbers
 */
export function checkVersion(verb: Verb, configVersion: string): CniVersion {
  const version = configVersion === '' ? '0.1.0' : configVersion
  const since = verbSince[verb]
  if (since !== undefined) {
    const numbers = parseVersion(version)
    if (!atLeast(numbers, parseVersion(since))) {
      throw new Problem('IPK_VERSION_INCOMPATIBLE', `config version does not allow ${verb}`)
    }
    if (!atLeast(parseVersion(latestVersion), numbers)) {
      throw new Problem('IPK_VERSION_INCOMPATIBLE', `plugin version does not allow ${verb}`)
    }
  }
  if (isSupportedVersion(version)) return version
  const supported = supportedVersions.map(quote).join(' ')
  const details = `config is ${quote(version)}, plugin supports [${supported}]`
  throw new Problem('IPK_VERSION_INCOMPATIBLE', 'incompatible CNI versions', { details })
}
