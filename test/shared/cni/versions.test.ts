import t from 'tap'
import { meantVersion, supportedVersions } from '../../../shared/cni/versions.ts'

t.test('the version that is meant by another spelling', t => {
  const rows: readonly (readonly [written: number | string, meant: string | undefined])[] = [
    ...supportedVersions.map(version => [version, version] as const),
    [1, '1.0.0'],
    [1.0, '1.0.0'],
    [1.1, '1.1.0'],
    [0.4, '0.4.0'],
    ['1', '1.0.0'],
    ['1.0', '1.0.0'],
    ['v1.0.0', '1.0.0'],
    ['V1.1', '1.1.0'],
    [' 0.3.1 ', '0.3.1'],
    ['01.00', '1.0.0'],
    [2, undefined],
    [-1, undefined],
    ['1.0.0.0', undefined],
    ['1.0.0-rc1', undefined],
    ['latest', undefined],
    ['', undefined],
  ]
  for (const [written, meant] of rows) t.equal(meantVersion(written), meant, JSON.stringify(written))
  t.end()
})
