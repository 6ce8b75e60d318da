import t from 'tap'
import type { Environment } from '../../../shared/cni/environment.ts'
import {
  configVersion,
  decodeNetworkConfig,
  networkName,
  pluginSettings,
  type PluginSettings,
} from '../../../shared/cni/netconf.ts'

t.test('decoding: C2, C3', t => {
  t.same(decodeNetworkConfig('{"name":"a"}'), { name: 'a' })
  t.same(decodeNetworkConfig('null'), {})
  const prefix = 'error unmarshall network config: '
  const cases: readonly [text: string, message: string][] = [
    ['', 'unexpected end of JSON input at line 1 column 1'],
    ['{}{}', 'text after the end of the document, beginning with "{" at line 1 column 3'],
    ['[]', 'it must be an object, not an array'],
    ['"a"', 'it must be an object, not a string'],
    ['1', 'it must be an object, not a number'],
  ]
  for (const [text, message] of cases) {
    t.throws(
      () => decodeNetworkConfig(text),
      { code: 'IPK_CONFIG_UNDECODABLE', message: prefix + message },
      text,
    )
  }
  t.end()
})

t.test('name: C3', t => {
  t.equal(networkName({ name: 'a' }), 'a')
  t.equal(networkName({ Name: 'a' }), 'a')
  for (const config of [{}, { name: '' }, { name: null }]) {
    t.throws(() => networkName(config), { code: 'IPK_NETWORK_NAME', message: 'missing network name' })
  }
  t.throws(() => networkName({ name: '../x' }), {
    code: 'IPK_NETWORK_NAME',
    message: 'invalid characters found in network name',
    details: '../x',
  })
  t.throws(() => networkName({ name: 1 }), {
    code: 'IPK_CONFIG_UNDECODABLE',
    message: 'error unmarshall network config: "name" must be a string, not a number',
  })
  t.end()
})

t.test('version: C4, C5', t => {
  t.equal(configVersion({ cniVersion: '1.0.0' }), '1.0.0')
  t.equal(configVersion({ cniversion: 'x' }), 'x')
  for (const config of [{}, { cniVersion: '' }, { cniVersion: null }]) t.equal(configVersion(config), '')
  t.throws(() => configVersion({ cniVersion: 1 }), {
    code: 'IPK_CONFIG_UNDECODABLE',
    message: /^decoding version from network config: /,
  })
  t.end()
})

t.test('settings: the nearest one counts', t => {
  const standard: PluginSettings = {
    socket: '/run/ipkeeper/ipkeeper.sock',
    stateDir: '/var/lib/ipkeeper',
    timeoutSeconds: 60,
  }
  const env = { IPKEEPER_SOCKET: '/env.sock', IPKEEPER_STATE_DIR: '/env' }
  const outer = { socket: '/outer.sock', stateDir: '/outer', timeout: 5 }
  const inner = { socket: '/inner.sock', stateDir: '/inner', timeout: 0.5 }
  const cases: readonly [config: Record<string, unknown>, env: Environment, settings: PluginSettings][] = [
    [{}, {}, standard],
    [{ ipam: {} }, { IPKEEPER_SOCKET: '' }, standard],
    [{}, env, { socket: '/env.sock', stateDir: '/env', timeoutSeconds: 60 }],
    [outer, env, { socket: '/outer.sock', stateDir: '/outer', timeoutSeconds: 5 }],
    [{ ...outer, ipam: inner }, env, { socket: '/inner.sock', stateDir: '/inner', timeoutSeconds: 0.5 }],
    [
      { ...outer, ipam: { socket: null, statedir: '/folded' } },
      {},
      { ...standard, socket: '/outer.sock', stateDir: '/folded', timeoutSeconds: 5 },
    ],
  ]
  for (const [config, variables, settings] of cases) {
    t.same(pluginSettings(config, variables), settings, JSON.stringify(config))
  }
  t.end()
})

t.test('settings that make no sense', t => {
  const cases: readonly [config: Record<string, unknown>, code: string, message: RegExp][] = [
    [{ ipam: [] }, 'IPK_CONFIG_INVALID', /"ipam" must be an object, not an array/],
    [{ ipam: { socket: 1 } }, 'IPK_CONFIG_INVALID', /"ipam.socket" must be a string, not a number/],
    [{ timeout: '5' }, 'IPK_CONFIG_INVALID', /"timeout" must be a number, not a string/],
    [
      { ipam: { timeout: 0 } },
      'IPK_CONFIG_INVALID',
      /"ipam.timeout" must be between 0 and 86400 seconds, not 0/,
    ],
    [{ timeout: -1 }, 'IPK_CONFIG_INVALID', /"timeout" must be between/],
    [{ stateDir: 'state' }, 'IPK_CONFIG_INVALID', /"stateDir" must be an absolute path, not "state"/],
  ]
  for (const [config, code, message] of cases) {
    t.throws(() => pluginSettings(config, {}), { code, message }, JSON.stringify(config))
  }
  t.throws(() => pluginSettings({}, { IPKEEPER_SOCKET: 'x' }), {
    message: /"IPKEEPER_SOCKET" must be an absolute path/,
  })
  t.end()
})
