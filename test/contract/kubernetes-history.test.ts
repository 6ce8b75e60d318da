import t from 'tap'
import { apiVersion } from '../../ipkeeper-server/store/kubernetes/resources.ts'
import { startCluster } from '../rigs/cluster.ts'
import { installCustomResources, openEngine } from '../rigs/custom-resources.ts'
import { missing } from '../rigs/requirements.ts'
import { historyArchiveContract } from './history-archive-contract.ts'

t.test('histories as objects of the Kubernetes API', { skip: missing('cluster') }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  historyArchiveContract(t, async () => {
    await cluster.request('DELETE', `/apis/${apiVersion}/iphistories`)
    return openEngine(t, cluster).engine.history
  })
})
