import t from 'tap'
import { compareVersions } from '../../../shared/text/compare-versions.ts'

t.test('which version is older', t => {
  for (const [one, other, sign] of [
    ['1.0.0', '1.0.0', 0],
    ['0.9.9', '1.0.0', -1],
    ['1.9.0', '1.10.0', -1],
    ['1.0.10', '1.0.9', 1],
    ['1', '1.0.0', 0],
    ['0.4', '0.4.1', -1],
    ['1.0.0-dev', '1.0.0+build', 0],
  ] as const) {
    t.equal(Math.sign(compareVersions(one, other)), sign, `${one} ${other}`)
    t.equal(Math.sign(compareVersions(other, one)) + sign, 0, `${other} ${one}`)
  }
  t.end()
})
