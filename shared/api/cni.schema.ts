import { Type, type Static } from 'typebox'
import { firstOwnCode, specifiedCodes } from '../cni/error-codes.ts'

/** Requests and replies of POST /v1/cni/{add,check,del,gc,status}. */

/** What fits into one variable of an environment (Linux: MAX_ARG_STRLEN); so what the plugin was given is never too long. */
const EnvironmentValue = Type.String({ maxLength: 131_072 })

/**
 * What one run of the plugin asks. `config` is the network configuration as it was read from stdin, `args` the raw
 * CNI_ARGS. `invocationId`, `startedAt` (microseconds of CLOCK_MONOTONIC) and `bootId` belong to one run of the
 * executable: a re-sent ADD is recognised by them, and a DEL stops only ADDs that began before it.
 */
export const CniRequest = Type.Object(
  {
    invocationId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    startedAt: Type.Optional(Type.Integer({ minimum: 0 })),
    bootId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    containerId: EnvironmentValue,
    netns: EnvironmentValue,
    // A verb that needs no interface does not look at what is there; where it counts, its form is checked.
    ifname: EnvironmentValue,
    args: EnvironmentValue,
    path: EnvironmentValue,
    confirms: Type.Optional(
      Type.Literal(true, {
        description:
          'add: the caller makes the file "answered/INVOCATIONID" in the state folder before it uses the answer; without it an answer counts as arrived when it is sent',
      }),
    ),
    given: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 256,
        description:
          'add, sent again: what the plugin of "ipam.fallback" gave, in CIDR notation; to be confirmed before it is printed',
      }),
    ),
    config: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'CniRequest', additionalProperties: false },
)
export type CniRequest = Static<typeof CniRequest>

const ResultIp = Type.Object({
  version: Type.Optional(Type.Union([Type.Literal('4'), Type.Literal('6')])),
  address: Type.String({ minLength: 1 }),
  gateway: Type.Optional(Type.String()),
  interface: Type.Optional(Type.Integer({ minimum: 0 })),
})

const ResultRoute = Type.Object({ dst: Type.String({ minLength: 1 }), gw: Type.Optional(Type.String()) })
const Names = Type.Array(Type.String())

const FamilyConfig = Type.Object({
  ip: Type.String({ minLength: 1 }),
  gateway: Type.Optional(Type.String()),
  routes: Type.Optional(Type.Array(ResultRoute)),
})

/**
 * A Result of any version: what libcni refuses as a whole when it is of another type. Which of its keys a version has,
 * and that there is an address, plugin/result-fault.ts says; a schema for each version would be most of the plugin.
 */
export const AddResult = Type.Object({
  cniVersion: Type.String({ minLength: 1 }),
  interfaces: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
  ips: Type.Optional(Type.Array(ResultIp)),
  routes: Type.Optional(Type.Array(ResultRoute)),
  ip4: Type.Optional(FamilyConfig),
  ip6: Type.Optional(FamilyConfig),
  dns: Type.Optional(
    Type.Object({
      nameservers: Type.Optional(Names),
      domain: Type.Optional(Type.String()),
      search: Type.Optional(Names),
      options: Type.Optional(Names),
    }),
  ),
})
export type AddResult = Static<typeof AddResult>

/** The pod's addresses are left to the plugin of `ipam.fallback`. */
export const Delegate = Type.Object({
  type: Type.String({ minLength: 1, description: 'as "ipam.fallback.type" says' }),
})
export type Delegate = Static<typeof Delegate>

const replyHead = {
  requestId: Type.String({ minLength: 1 }),
  stateDir: Type.String({ minLength: 1 }),
  stateFolder: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'device and inode of stateDir as the daemon sees it, "DEV:INO": in a container the path may lead to another folder',
    }),
  ),
}

/** The reply of add. */
export const AddReply = Type.Union(
  [Type.Object({ ...replyHead, result: AddResult }), Type.Object({ ...replyHead, delegate: Delegate })],
  { $id: 'AddReply' },
)
export type AddReply = Static<typeof AddReply>

/** The reply of check, del, gc and status: that it is one, and from which daemon. */
export const DoneReply = Type.Object(
  {
    ...replyHead,
    delegatedTo: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
        description:
          'check and del: the plugin of "ipam.fallback" that gave the addresses; null where they were ours; absent when unknown',
      }),
    ),
  },
  { $id: 'DoneReply' },
)
export type DoneReply = Static<typeof DoneReply>

/** What the runtime is told: a code of the specification, or one of ours. */
const CniCode = Type.Union([
  Type.Integer({ minimum: firstOwnCode, maximum: 999 }),
  Type.Enum([...specifiedCodes]),
])

const problemFields = {
  code: Type.String({ minLength: 1 }),
  message: Type.String({ minLength: 1 }),
  hint: Type.String(),
  retryable: Type.Boolean(),
  cniCode: CniCode,
  details: Type.String(),
}

/** What is wrong, as it is told within a reply; shared/problem/problem.ts. */
export const ProblemItem = Type.Object(problemFields)
export type ProblemItem = Static<typeof ProblemItem>

/** Body of every reply that is not a 200. */
export const ErrorReply = Type.Object(
  {
    ...problemFields,
    requestId: Type.String({ minLength: 1 }),
    stateDir: Type.String({ minLength: 1 }),
  },
  { $id: 'ErrorReply' },
)
export type ErrorReply = Static<typeof ErrorReply>
