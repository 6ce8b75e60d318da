import t from 'tap'
import { checkVersion } from '../../../shared/cni/version-check.ts'
import { supportedVersions, type Verb } from '../../../shared/cni/versions.ts'

const allowed = {
  ADD: supportedVersions,
  DEL: supportedVersions,
  CHECK: ['0.4.0', '1.0.0', '1.1.0'],
  GC: ['1.1.0'],
  STATUS: ['1.1.0'],
} as const

t.test('which verb in which version: D3, D4', t => {
  for (const [verb, versions] of Object.entries(allowed) as [Verb, readonly string[]][]) {
    for (const version of supportedVersions) {
      if (versions.includes(version)) {
        t.equal(checkVersion(verb, version), version, `${verb} ${version}`)
      } else {
        const message = `config version does not allow ${verb}`
        t.throws(
          () => checkVersion(verb, version),
          { code: 'IPK_VERSION_INCOMPATIBLE', message },
          `${verb} ${version}`,
        )
      }
    }
  }
  t.equal(checkVersion('ADD', ''), '0.1.0', 'absent means 0.1.0')
  t.throws(() => checkVersion('CHECK', ''), { message: 'config version does not allow CHECK' })
  t.end()
})

t.test('other spellings and other versions', t => {
  const notSupported = 'incompatible CNI versions'
  const details = (version: string): string =>
    `config is "${version}", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"]`
  for (const version of ['1.2.0', '1.0', 'v1.0.0', 'adsf', '4.3.2', '01.0.0']) {
    const expected = { code: 'IPK_VERSION_INCOMPATIBLE', message: notSupported, details: details(version) }
    t.throws(() => checkVersion('ADD', version), expected, version)
  }

  const undecodable = 'IPK_CONFIG_UNDECODABLE'
  const incompatible = 'IPK_VERSION_INCOMPATIBLE'
  const cases: readonly [version: string, code: string, message: string][] = [
    [
      'adsf',
      undecodable,
      'failed to convert major version part "adsf": strconv.Atoi: parsing "adsf": invalid syntax',
    ],
    [
      '1.x',
      undecodable,
      'failed to convert minor version part "x": strconv.Atoi: parsing "x": invalid syntax',
    ],
    [
      '1.0.0-rc1',
      undecodable,
      'failed to convert micro version part "0-rc1": strconv.Atoi: parsing "0-rc1": invalid syntax',
    ],
    ['1.', undecodable, 'failed to convert minor version part "": strconv.Atoi: parsing "": invalid syntax'],
    [
      '9'.repeat(30),
      undecodable,
      `failed to convert major version part "${'9'.repeat(30)}": strconv.Atoi: parsing "${'9'.repeat(30)}": value out of range`,
    ],
    ['1.0.0.0', undecodable, 'invalid version "1.0.0.0": too many parts'],
    ['1.2.0', incompatible, 'plugin version does not allow CHECK'],
    ['2', incompatible, 'plugin version does not allow CHECK'],
    ['0.4', incompatible, notSupported],
    ['1.0', incompatible, notSupported],
    ['0.3', incompatible, 'config version does not allow CHECK'],
  ]
  for (const [version, code, message] of cases) {
    t.throws(() => checkVersion('CHECK', version), { code, message }, `CHECK ${version.slice(0, 10)}`)
  }
  t.end()
})
