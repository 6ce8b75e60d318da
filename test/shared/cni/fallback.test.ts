import t from 'tap'
import { fallbackConfig, readFallback } from '../../../shared/cni/fallback.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

t.test('what counts as a fallback', t => {
  const cases: readonly [ipam: unknown, type: string | undefined][] = [
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
    [{ fallback: null }, undefined],
    [{ fallback: { type: 'dhcp' } }, 'dhcp'],
    [{ Fallback: { Type: 'host-local' } }, 'host-local'],
    [{ fallback: { type: 'my.ipam_2' } }, 'my.ipam_2'],
  ]
  for (const [ipam, type] of cases) t.equal(readFallback({ ipam })?.type, type, JSON.stringify(ipam))
  t.end()
})

t.test('what makes no sense', async t => {
  const cases: readonly [fallback: unknown, code: string][] = [
    ['dhcp', 'IPK_CONFIG_INVALID'],
    [['dhcp'], 'IPK_CONFIG_INVALID'],
    [{ type: 1 }, 'IPK_CONFIG_INVALID'],
    [{}, 'IPK_CONFIG_INVALID'],
    [{ type: '' }, 'IPK_CONFIG_INVALID'],
    [{ type: '../dhcp' }, 'IPK_CONFIG_INVALID'],
    [{ type: '.' }, 'IPK_CONFIG_INVALID'],
    [{ type: 'a\u0000b' }, 'IPK_CONFIG_INVALID'],
    [{ type: 'x'.repeat(129) }, 'IPK_CONFIG_INVALID'],
    [{ type: 'ipkeeper' }, 'IPK_CONFIG_INVALID'],
  ]
  for (const [fallback, code] of cases) {
    const problem = await thrownProblem(() => readFallback({ ipam: { fallback } }))
    t.equal(problem.code, code, JSON.stringify(fallback))
  }
})

t.test('its section takes the place of ours, in any spelling', t => {
  const config = { name: 'n', IPAM: { type: 'ipkeeper', fallback: { type: 'dhcp', daemon: true } } }
  const fallback = readFallback(config)
  t.ok(fallback)
  if (fallback)
    t.strictSame(fallbackConfig(config, fallback), { name: 'n', ipam: { type: 'dhcp', daemon: true } })
  t.end()
})
