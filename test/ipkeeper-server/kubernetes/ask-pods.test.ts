import t from 'tap'
import { ApiError } from '../../../ipkeeper-server/kubernetes/api-error.ts'
import { fetchPod } from '../../../ipkeeper-server/kubernetes/ask-pods.ts'
import type { ResolvedOwner } from '../../../ipkeeper-server/kubernetes/owner-resolver.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'

const controller = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u-web', controller: true }
const web0 = (patch: JsonObject = {}): JsonObject => ({
  metadata: {
    ...{ namespace: 'shop', name: 'web-0', uid: 'u1', resourceVersion: '7', labels: { app: 'web' } },
    annotations: { 'ipkeeper.io/ip': '10.22.0.50', 'example.org/other': 'x' },
    ...patch,
  },
})
const resolved: ResolvedOwner = {
  owner: { ...controller, ordinalsStart: 3 },
  annotations: { 'ipkeeper.generals.space/ip_pool': 'a' },
  misplaced: [],
}

/** A client that answers once, and what it was asked. */
function api(answer: JsonObject | Error) {
  const asked: string[] = []
  const get = async (path: string): Promise<JsonObject> => {
    asked.push(path)
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  return { asked, client: { get } }
}
const owners = { resolve: () => Promise.resolve(resolved) }

t.test('a pod with its controller, as the caches would show it', async t => {
  const { asked, client } = api(web0({ ownerReferences: [controller] }))
  t.strictSame(await fetchPod(client, owners, 'shop', 'web-0'), {
    uid: 'u1',
    annotations: { 'ipkeeper.generals.space/ip_pool': 'a', 'ipkeeper.io/ip': '10.22.0.50' },
    labels: { app: 'web' },
    owner: resolved.owner,
  })
  t.strictSame(asked, ['/api/v1/namespaces/shop/pods/web-0'])
})

t.test('a pod of nobody', async t => {
  t.match(await fetchPod(api(web0()).client, owners, 'shop', 'web-0'), { uid: 'u1', owner: null })
})

t.test('only a NotFound of that very name means that there is none', async t => {
  const gone = (about: string): ApiError =>
    new ApiError('GET: 404', { status: 404, reason: 'NotFound', about })
  t.equal(await fetchPod(api(gone('web-0')).client, owners, 'shop', 'web-0'), undefined)
  for (const answer of [
    gone('pods'),
    new ApiError('GET: 404', { status: 404 }),
    new ApiError('GET: 403 Forbidden', { status: 403, reason: 'Forbidden' }),
    web0({ name: 'web-1' }),
    web0({ namespace: 'other' }),
    {},
  ])
    await t.rejects(fetchPod(api(answer).client, owners, 'shop', 'web-0'), ApiError)
})

t.test('a name that is no part of a path is not sent', async t => {
  const { asked, client } = api(web0())
  await t.rejects(fetchPod(client, owners, 'shop', '../web-0'), RangeError)
  t.strictSame(asked, [])
})

t.test('an API that says nothing is not waited for without end', async t => {
  const asking = fetchPod({ get: () => new Promise(() => undefined) }, owners, 'shop', 'web-0', 1)
  await t.rejects(asking, { message: 'pod shop/web-0: no answer within 1 ms' })
})
