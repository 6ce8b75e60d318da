import t from 'tap'
import { misplaced, ownerKind } from '../../../ipkeeper-server/kubernetes/owner-kinds.ts'

const ip = { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52' }
const template = (annotations: object): object => ({ template: { metadata: { annotations } } })

t.test('which annotations no pod sees', t => {
  const apps = { apiVersion: 'apps/v1' }
  const batch = { apiVersion: 'batch/v1' }
  const onObject = { key: 'ipkeeper.io/ips', found: 'metadata.annotations' }
  const belongs = 'spec.template.metadata.annotations'
  const inCronJob = 'spec.jobTemplate.spec.template.metadata.annotations'
  for (const [what, type, annotations, spec, expected] of [
    ...(['StatefulSet', 'Deployment', 'DaemonSet'] as const).map(
      kind => [kind, { ...apps, kind }, ip, {}, [{ ...onObject, belongs }]] as const,
    ),
    ['Job', { ...batch, kind: 'Job' }, ip, template({}), [{ ...onObject, belongs }]],
    ['on the template', { ...apps, kind: 'Deployment' }, {}, template(ip), []],
    ['on both', { ...apps, kind: 'Deployment' }, ip, template({ 'ipkeeper.io/ips': 'other' }), []],
    [
      'another key on the template',
      { ...apps, kind: 'Deployment' },
      ip,
      template({ 'ipkeeper.io/retain': 'forever' }),
      [{ ...onObject, belongs }],
    ],
    [
      'two levels of a CronJob',
      { ...batch, kind: 'CronJob' },
      ip,
      { jobTemplate: { metadata: { annotations: { 'ipkeeper.io/mac': 'x' } }, spec: template({}) } },
      [
        { ...onObject, belongs: inCronJob },
        { key: 'ipkeeper.io/mac', found: 'spec.jobTemplate.metadata.annotations', belongs: inCronJob },
      ],
    ],
    ['right in a CronJob', { ...batch, kind: 'CronJob' }, {}, { jobTemplate: { spec: template(ip) } }, []],
    [
      'keys of others, and those that the forerunner wants there',
      { ...apps, kind: 'Deployment' },
      { 'ipkeeper.generals.space/ip_pool': 'x', other: 'y' },
      template({}),
      [],
    ],
    ['a ReplicaSet has those of its Deployment', { ...apps, kind: 'ReplicaSet' }, ip, {}, []],
  ] as const) {
    const kind = ownerKind(type)
    t.strictSame(misplaced({ metadata: { annotations }, spec }, kind!), expected, what)
  }
  t.end()
})
