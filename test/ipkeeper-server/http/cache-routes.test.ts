import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { cacheRoutes, type ResultCaches } from '../../../ipkeeper-server/http/routes/cache.ts'
import type { CacheReply } from '../../../shared/api/cache.schema.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'

async function application(t: Test, caches: ResultCaches) {
  const addRoutes = (node: FastifyInstance): void => {
    cacheRoutes(node, { caches })
  }
  return (await openLeaseApp(t, { parts: { nodeRoutes: [addRoutes] } })).app
}

const state: CacheReply = {
  ...{ mode: 'repair', stateDir: '/state', folders: [], scannedAt: null, quarantined: [] },
  files: [
    {
      ...{ path: '/var/lib/cni/results/a', kind: 'results', reason: 'zero-byte', detail: 'empty' },
      ...{ network: 'net', containerId: 'c1', ifname: 'eth0', size: 0, modifiedAt: null, own: false },
      ...{ plan: 'report', because: "another plugin's network" },
    },
  ],
}

t.test('GET /v1/cache', async t => {
  const app = await application(t, {
    state: () => Promise.resolve(state),
    cachedResult: () => Promise.resolve(undefined),
  })
  const reply = await app.inject({ url: '/v1/cache' })
  t.equal(reply.statusCode, 200)
  t.same(reply.json(), state)
})

t.test('GET the file of an attachment', async t => {
  const asked: unknown[] = []
  const app = await application(t, {
    state: () => Promise.reject(new Error('not asked for')),
    cachedResult: key => {
      asked.push(key)
      return Promise.resolve(key.ifname === 'eth0' ? 'TEXT' : undefined)
    },
  })
  const url = `/v1/cache/results/my-net/c1/`
  const found = await app.inject({ url: `${url}eth0` })
  t.same([found.statusCode, found.json()], [200, { text: 'TEXT' }])
  t.same(asked, [{ network: 'my-net', containerId: 'c1', ifname: 'eth0' }])
  const missing = await app.inject({ url: `${url}eth1` })
  t.equal(missing.statusCode, 404)
  t.match(missing.json(), { code: 'IPK_CACHE_UNKNOWN', message: /eth1 of container c1 on network my-net/ })
})
