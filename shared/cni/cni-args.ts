import { Problem } from '../problem/problem.ts'

/** What CNI_ARGS says; a key that is absent or empty is undefined. */
export interface CniArgs {
  readonly podNamespace?: string
  readonly podName?: string
  readonly podUid?: string
  readonly infraContainerId?: string
  /** Requested addresses as they were written: with or without prefix length, several joined by commas. */
  readonly ip?: string
  readonly gateway?: string
  readonly mac?: string
}

const fields: Readonly<Record<string, keyof CniArgs>> = {
  K8S_POD_NAMESPACE: 'podNamespace',
  K8S_POD_NAME: 'podName',
  K8S_POD_UID: 'podUid',
  K8S_POD_INFRA_CONTAINER_ID: 'infraContainerId',
  IP: 'ip',
  GATEWAY: 'gateway',
  MAC: 'mac',
}

export interface CniArgsOptions {
  /** Skip what cannot be understood instead of throwing: a DEL must work with whatever it is given. */
  readonly lenient?: boolean
}

/**
 * Parses `KEY=VALUE;KEY=VALUE` as the reference library does (cni:pkg/types/args.go; cni-protocol I1, I2): keys are
 * case-sensitive, the later of equal keys wins, each pair has exactly one "=", and keys we do not know are an error
 * unless IgnoreUnknown is 1 or true anywhere in the text.
 *
 * @throws Problem IPK_ARGS_INVALID (CNI code 7), never when lenient
 */
export function parseCniArgs(text: string, { lenient = false }: CniArgsOptions = {}): CniArgs {
  if (text === '') return {}
  const values = new Map<keyof CniArgs, string>()
  const unknown: string[] = []
  let ignoreUnknown = lenient
  for (const pair of text.split(';')) {
    const [key, value, ...more] = pair.split('=')
    if (key === undefined || value === undefined || more.length > 0) {
      if (lenient) continue
      throw new Problem('IPK_ARGS_INVALID', `ARGS: invalid pair ${JSON.stringify(pair)}`)
    }
    if (key === 'IgnoreUnknown') {
      ignoreUnknown = lenient || parseFlag(pair, value)
      continue
    }
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) unknown.push(pair)
    else values.set(field, value)
  }
  if (unknown.length > 0 && !ignoreUnknown) {
    const shown = unknown.map(pair => JSON.stringify(pair)).join(' ')
    throw new Problem('IPK_ARGS_INVALID', `ARGS: unknown args [${shown}]`)
  }
  return Object.fromEntries([...values].filter(([, value]) => value !== ''))
}

function parseFlag(pair: string, value: string): boolean {
  const folded = value.toLowerCase()
  if (folded === '1' || folded === 'true') return true
  if (folded === '0' || folded === 'false') return false
  const why = `boolean unmarshal error: invalid input ${value}`
  throw new Problem('IPK_ARGS_INVALID', `ARGS: error parsing value of pair ${JSON.stringify(pair)}: ${why}`)
}
