import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { openEtcdAccess } from '../../../../ipkeeper-server/store/etcd/etcd-access.ts'
import { EtcdClient } from '../../../../ipkeeper-server/store/etcd/etcd-client.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

type Answer = (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => void

const same = (bytes: Buffer): Buffer => bytes

const method = (path: string): object => ({
  ...{ path: `/etcdserverpb.${path}`, requestStream: false, responseStream: false },
  ...{ requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same },
})

/** A member that gives the tokens "1", "2" and so on, and takes those that `takes` says. Returns its URL. */
async function startMember(t: Test, takes: (token: string) => boolean): Promise<string> {
  let tokens = 0
  const authenticate: Answer = (_call, reply) => {
    const writer = new BinaryWriter().tag(2, WireType.LengthDelimited).string(String(++tokens))
    reply(null, Buffer.from(writer.finish()))
  }
  const range: Answer = ({ metadata }, reply) => {
    if (takes(String(metadata.get('token')[0] ?? ''))) reply(null, Buffer.alloc(0))
    else reply({ code: status.UNAUTHENTICATED, details: 'etcdserver: invalid auth token' })
  }
  const server = new Server()
  const service = { authenticate: method('Auth/Authenticate'), range: method('KV/Range') }
  server.addService(service as never, { authenticate, range })
  t.teardown(() => {
    server.forceShutdown()
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error)
      else resolve(bound)
    })
  })
  return `http://127.0.0.1:${port}`
}

function connect(t: Test, url: string, user: string | undefined, deadlineMs: number): EtcdClient {
  const passwordFile = tempFolder(t).file('password')
  writeFileSync(passwordFile, 'secret')
  const settings = { prefix: '/', ...(user !== undefined && { user, passwordFile }) }
  const client = new EtcdClient(
    openEtcdAccess([url], settings, () => 0),
    deadlineMs,
    () => 0,
  )
  t.teardown(() => {
    client.close()
  })
  return client
}

const refused = { code: 'IPK_STORE_FAILED', message: /invalid auth token/ }
/** The time of a call may be over during a login as well. */
const refusedInTheEnd = { message: /invalid auth token|login: no answer/ }
const long = 30_000

for (const [what, user, takes, deadlineMs, outcome] of [
  ['the first token is taken', 'u', token => token === '1', long, undefined],
  ['one has expired: a new one is taken', 'u', token => token === '2', long, undefined],
  ['new ones expire on their way, until one does not', 'u', token => token === '4', long, undefined],
  ['none is ever taken', 'u', () => false, 500, refusedInTheEnd],
  ['nobody to log in as', undefined, () => false, long, refused],
] satisfies [string, string | undefined, (token: string) => boolean, number, object | undefined][])
  t.test(what, async t => {
    const client = connect(t, await startMember(t, takes), user, deadlineMs)
    const answer = client.range({ key: 'a' })
    if (outcome) await t.rejects(answer, outcome)
    else t.match(await answer, { kvs: [] })
  })
