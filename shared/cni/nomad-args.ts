import { Problem } from '../problem/problem.ts'

/** An allocation of Nomad, as the keys that Nomad sets itself tell of it. */
export interface NomadAllocation {
  readonly namespace: string
  readonly job: string
  readonly group: string
  readonly id: string
  /** Nomad passes none of itself: a job may, by its own `cni { args }`. */
  readonly index?: number
}

/** Each value by its key, in the order of the text. */
export type NomadPairs = ReadonlyMap<string, readonly string[]>

const allocationKey = 'NOMAD_ALLOC_ID'
const indexKey = 'NOMAD_ALLOC_INDEX'

export const nomadKeys: ReadonlySet<string> = new Set([
  'NOMAD_NAMESPACE',
  'NOMAD_JOB_ID',
  'NOMAD_GROUP_NAME',
  allocationKey,
  indexKey,
])

const allocationId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Neither ":" nor brackets, which names of holders are put together with; nothing that a pattern or a shell would read. */
const word = /^[A-Za-z0-9][A-Za-z0-9._~+@-]*$/
const wordOrPath = /^[A-Za-z0-9][A-Za-z0-9._~+@/-]*$/

const namespacePattern = /^[A-Za-z0-9-]+$/

export const isNomadNamespace = (name: string): boolean => namespacePattern.test(name)

/** What is tested, and how long it may be: together they have to fit into the 253 characters of a name. */
const rules = {
  NOMAD_NAMESPACE: { pattern: namespacePattern, longest: 63 },
  NOMAD_JOB_ID: { pattern: wordOrPath, longest: 128 },
  NOMAD_GROUP_NAME: { pattern: word, longest: 80 },
} as const

function fault(what: string, hint?: string): Problem {
  return new Problem('IPK_ARGS_INVALID', `ARGS: ${what}`, hint === undefined ? {} : { hint })
}

/** Why a value that is given cannot be used; undefined when it can. */
function faultOf(key: keyof typeof rules, value: string): Problem | undefined {
  const { pattern, longest } = rules[key]
  if (value === '')
    return fault(
      `${key} is missing beside ${allocationKey}`,
      'Nomad leaves a value out that has a semicolon: give job and group names without one',
    )
  if (value.length > longest)
    return fault(`${key} has ${value.length} characters, of which ${longest} are allowed`)
  return pattern.test(value)
    ? undefined
    : fault(`${key}=${JSON.stringify(value)} has characters that no holder's name may have`)
}

/**
 * The allocation that CNI_ARGS names; undefined where it names none, as with any other caller. Nomad joins the job's own
 * arguments to its keys without escaping ";", so that a job's author could give a key a second time, in random order.
 *
 * @param namesPod whether K8S_POD_NAME or K8S_POD_NAMESPACE is there, which Nomad never sets
 */
export function readNomadArgs(pairs: NomadPairs, namesPod: boolean): NomadAllocation | Problem | undefined {
  const valueOf = (key: string): string => pairs.get(key)?.[0] ?? ''
  const id = valueOf(allocationKey)
  const twice = [...pairs].find(([, values]) => values.length > 1)
  if (twice)
    return fault(
      `${twice[0]} is given twice`,
      'an argument of the job has a semicolon or one of the keys of Nomad',
    )
  if (id === '') return undefined
  if (namesPod)
    return fault(
      `${allocationKey} and K8S_POD_NAME or K8S_POD_NAMESPACE are both given`,
      'take the keys of Kubernetes out of the "args" of the job',
    )
  if (!allocationId.test(id)) return fault(`${allocationKey}=${JSON.stringify(id)} is no ID of an allocation`)
  const keys = Object.keys(rules) as (keyof typeof rules)[]
  for (const key of keys) {
    const wrong = faultOf(key, valueOf(key))
    if (wrong) return wrong
  }
  const [namespace = '', job = '', group = ''] = keys.map(valueOf)
  const index = valueOf(indexKey)
  if (index === '') return { namespace, job, group, id }
  return /^(0|[1-9][0-9]{0,8})$/.test(index)
    ? { namespace, job, group, id, index: Number(index) }
    : fault(
        `${indexKey}=${JSON.stringify(index)} is no number`,
        'this version of Nomad may not fill in variables here: take it out of the job',
      )
}
