import { status } from '@grpc/grpc-js'
import { setTimeout as delay } from 'node:timers/promises'
import { EngineAway } from '../shared/engine.ts'
import type { EtcdAccess } from './etcd-access.ts'
import { EtcdContinuity } from './etcd-continuity.ts'
import { EtcdEndpoint, type EtcdCall } from './etcd-endpoint.ts'
import { EtcdFailure, refusal } from './etcd-failure.ts'
import {
  authenticateRequest,
  rangeRequest,
  readRangeReply,
  readToken,
  readTxnReply,
  txnRequest,
  type EtcdPosition,
  type RangeReply,
  type RangeRequest,
  type TxnReply,
  type TxnRequest,
} from './etcd-messages.ts'
import { inTime } from './in-time.ts'

/** Milliseconds between two rounds through the endpoints: an election takes about a second. */
const pause = 50

/** The call was made, and no answer came: it may have been carried out, or be carried out later. */
export class AnswerLost extends EngineAway {}

/**
 * Calls to etcd. Each is tried at one endpoint after another, the one that answered last first, until its time is over.
 * Rejects with EngineAway, or with IPK_STORE_FAILED when it is refused whatever is tried again, and then was not done.
 */
export class EtcdClient {
  readonly endpoints: readonly EtcdEndpoint[]
  readonly continuity: EtcdContinuity
  readonly #access: EtcdAccess
  readonly #deadlineMs: number
  #preferred: number
  #token: string | undefined
  readonly #loggingIn = new Map<EtcdEndpoint, Promise<string | undefined>>()

  /**
   * @param random from 0 to below 1: nodes begin at different members
   * @param onBreak etcd has other data than it had (etcd-continuity.ts)
   */
  constructor(
    access: EtcdAccess,
    deadlineMs: number,
    random: () => number,
    onBreak: (reason: string) => void = () => undefined,
  ) {
    this.#access = access
    this.continuity = new EtcdContinuity(onBreak)
    this.#deadlineMs = deadlineMs
    this.endpoints = access.endpoints.map(url => new EtcdEndpoint(url, again => access.tls(again)))
    this.#preferred = Math.floor(random() * this.endpoints.length)
  }

  async range(request: RangeRequest): Promise<RangeReply> {
    const call = { method: 'KV/Range', request: rangeRequest(request), read: readRangeReply }
    return await this.#everywhere(call, performance.now() + this.#deadlineMs)
  }

  /**
   * Carried out once at most; rejects with AnswerLost when nobody can tell.
   *
   * @param ends moment of performance.now()
   */
  async txn(request: TxnRequest, ends: number): Promise<TxnReply> {
    const call = { method: 'KV/Txn', request: txnRequest(request), read: readTxnReply }
    return await this.#everywhere(call, ends, true)
  }

  /** A transaction that does no harm when it is carried out several times, or later. */
  async repeat(request: TxnRequest): Promise<TxnReply> {
    const call = { method: 'KV/Txn', request: txnRequest(request), read: readTxnReply }
    return await this.#everywhere(call, performance.now() + this.#deadlineMs)
  }

  /** The token to begin a stream with; undefined where none is needed. Rejects with EtcdFailure. */
  async token(endpoint: EtcdEndpoint): Promise<string | undefined> {
    const login = this.#token === undefined ? this.#access.login() : undefined
    if (!login) return this.#token
    const underWay =
      this.#loggingIn.get(endpoint) ??
      this.#logIn(endpoint, login).finally(() => {
        this.#loggingIn.delete(endpoint)
      })
    this.#loggingIn.set(endpoint, underWay)
    return await underWay
  }

  /** A token that was refused. */
  forget(token: string | undefined): void {
    if (this.#token === token) this.#token = undefined
  }

  close(): void {
    for (const endpoint of this.endpoints) endpoint.close()
  }

  async #logIn(
    endpoint: EtcdEndpoint,
    { user, password }: { readonly user: string; readonly password: string },
  ): Promise<string | undefined> {
    const request = authenticateRequest(user, password)
    try {
      const call = { method: 'Auth/Authenticate', request, read: readToken }
      this.#token = await endpoint.call(call, undefined, this.#deadlineMs)
    } catch (error) {
      // Users are switched off: etcd tells us when it wants one.
      if (!(error instanceof EtcdFailure)) throw error
      if (error.code === status.FAILED_PRECONDITION) return undefined
      // Of what was to be done after it, nothing was.
      const verdict = error.verdict === 'uncertain' ? 'unreachable' : error.verdict
      throw new EtcdFailure(endpoint.url, error.code, `login: ${error.message}`, verdict)
    }
    return this.#token
  }

  /** An answer out of other data than the answers before is none. */
  async #everywhere<T extends EtcdPosition>(call: EtcdCall<T>, ends: number, once = false): Promise<T> {
    const start = this.continuity.begin()
    const reply = await this.#anywhere(call, ends, once)
    if (!this.continuity.holds(reply, start)) throw new AnswerLost('etcd: its data is not what it was')
    return reply
  }

  async #anywhere<T>(call: EtcdCall<T>, ends: number, once: boolean): Promise<T> {
    const count = this.endpoints.length
    let last: EtcdFailure | undefined
    for (;;) {
      let reached = false
      const first = this.#preferred
      for (let step = 0; step < count; step++) {
        const left = ends - performance.now()
        if (left <= 1) throw away(last, `no answer within ${this.#deadlineMs} ms`)
        const index = (first + step) % count
        const endpoint = this.endpoints[index]
        if (!endpoint) continue
        try {
          // One that is frozen must leave time for the others.
          const reply = await this.#authorised(endpoint, call, left / (count - step))
          this.#preferred = index
          return reply
        } catch (error) {
          if (!(error instanceof EtcdFailure)) throw error
          last = error
          this.#preferred = (index + 1) % count
          const { verdict } = error
          if (verdict === 'refused' || verdict === 'login') throw refusal(error)
          if (once && verdict === 'uncertain') throw new AnswerLost(`etcd: ${error.line}`, { cause: error })
          reached ||= verdict === 'uncertain'
        }
      }
      if (!reached) throw away(last)
      await delay(Math.min(pause, Math.max(ends - performance.now(), 0)))
    }
  }

  /** With a token, if it needs one; with a new one when that is not taken. */
  async #authorised<T>(endpoint: EtcdEndpoint, call: EtcdCall<T>, milliseconds: number): Promise<T> {
    const ends = performance.now() + milliseconds
    let token = await within(milliseconds, endpoint, this.token(endpoint))
    for (let renewals = 0; ; renewals++) {
      try {
        return await endpoint.call(call, token, ends - performance.now())
      } catch (error) {
        if (!(error instanceof EtcdFailure) || error.verdict !== 'login') throw error
        this.forget(token)
        // A new token may expire, or be lost with its member, before the call arrives.
        if (renewals > 0) await delay(pause)
        if (ends - performance.now() <= pause) throw error
        token = await within(ends - performance.now(), endpoint, this.token(endpoint))
        if (token === undefined) throw error
      }
    }
  }
}

/** A login that others wait for as well may have begun with more time than this call has. */
const within = <T>(milliseconds: number, { url }: EtcdEndpoint, work: Promise<T>): Promise<T> =>
  inTime(
    work,
    milliseconds,
    () => new EtcdFailure(url, status.DEADLINE_EXCEEDED, 'login: no answer', 'unreachable'),
  )

function away(failure: EtcdFailure | undefined, otherwise = 'no answer'): EngineAway {
  return new EngineAway(`etcd: ${failure?.line ?? otherwise}`, { cause: failure })
}
