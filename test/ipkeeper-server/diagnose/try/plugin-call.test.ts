import t from 'tap'
import {
  annotationsCapability,
  askFor,
  namedSocket,
  pluginEnvironment,
  pluginInput,
  type Attachment,
} from '../../../../ipkeeper-server/diagnose/try/plugin-call.ts'
import type { TriedNetwork } from '../../../../ipkeeper-server/diagnose/try/read-network.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'

const network = (...plugins: readonly JsonObject[]): TriedNetwork => ({
  ...{ name: 'net', cniVersion: '1.0.0', disableCheck: false, plugins },
})
const attachment: Attachment = {
  ...{ containerId: 'c1', netns: '/run/netns/a', ifname: 'eth0', args: 'IgnoreUnknown=1' },
  ...{ capabilities: { ips: ['10.1.1.2'], mac: 'x' }, binDirs: ['/a', '/b'] },
}

t.test('stdin of a plugin', t => {
  const rows: readonly (readonly [
    what: string,
    plugin: JsonObject,
    previous: JsonObject | undefined,
    wanted: object,
  ])[] = [
    [
      'name and version of the list',
      { type: 'x', name: 'own', cniVersion: '0.1.0' },
      undefined,
      { type: 'x', name: 'net', cniVersion: '1.0.0' },
    ],
    [
      'what the plugin declares, and nothing else',
      { type: 'x', capabilities: { ips: true, mac: false, bandwidth: true } },
      { ips: [] },
      {
        ...{
          type: 'x',
          capabilities: { ips: true, mac: false, bandwidth: true },
          name: 'net',
          cniVersion: '1.0.0',
        },
        ...{ prevResult: { ips: [] }, runtimeConfig: { ips: ['10.1.1.2'] } },
      },
    ],
  ]
  for (const [what, plugin, previous, wanted] of rows)
    t.strictSame(pluginInput(network(plugin), plugin, attachment, previous), wanted, what)
  t.end()
})

t.test('environment of a plugin', t => {
  t.strictSame(pluginEnvironment('CHECK', attachment), {
    CNI_COMMAND: 'CHECK',
    CNI_CONTAINERID: 'c1',
    CNI_NETNS: '/run/netns/a',
    CNI_ARGS: 'IgnoreUnknown=1',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/a:/b',
  })
  t.end()
})

t.test('how wishes reach the plugins', t => {
  const ours = { type: 'bridge', ipam: { type: 'ipkeeper' } }
  const annotated = { ...ours, capabilities: { [annotationsCapability]: true, ips: true } }
  const wishes = {
    ...{ podNamespace: 'ns', podName: 'pod', podUid: 'u', containerId: 'c' },
    ...{ ips: ['10.1.1.2', 'fd00::2'], annotations: { 'a/b': 'c' } },
  }
  const pod =
    'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID=u'
  const rows: readonly (readonly [
    plugin: JsonObject,
    channel: string,
    args: string,
    capabilities: object,
  ])[] = [
    [
      annotated,
      'annotation ipkeeper.io/ip',
      pod,
      { [annotationsCapability]: { 'a/b': 'c', 'ipkeeper.io/ip': '10.1.1.2,fd00::2' } },
    ],
    [
      { ...annotated, ipam: { type: 'static' } },
      'runtimeConfig.ips',
      pod,
      { [annotationsCapability]: { 'a/b': 'c' }, ips: ['10.1.1.2', 'fd00::2'] },
    ],
    [ours, 'CNI_ARGS IP=', `${pod};IP=10.1.1.2,fd00::2`, { [annotationsCapability]: { 'a/b': 'c' } }],
  ]
  for (const [plugin, channel, args, capabilities] of rows)
    t.strictSame(askFor(network(plugin), wishes), { channel, args, capabilities }, channel)
  t.strictSame(askFor(network(annotated), { ...wishes, ips: [], annotations: {} }), {
    ...{ channel: undefined, args: pod, capabilities: { [annotationsCapability]: {} } },
  })
  t.end()
})

t.test('the socket that a list names', t => {
  const rows: readonly (readonly [plugin: JsonObject, socket: string | undefined])[] = [
    [{ type: 'bridge', ipam: { type: 'ipkeeper', socket: '/a' } }, '/a'],
    [{ type: 'ipkeeper', socket: '/b', ipam: {} }, '/b'],
    [{ type: 'ipkeeper' }, undefined],
    [{ type: 'bridge', ipam: { type: 'host-local', socket: '/c' } }, undefined],
  ]
  for (const [plugin, socket] of rows) t.equal(namedSocket(network(plugin)), socket)
  t.end()
})
