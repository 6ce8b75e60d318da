import { Problem } from '../problem/problem.ts'
import { nomadKeys, readNomadArgs, type NomadAllocation } from './nomad-args.ts'

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
  /** Who calls is Nomad, and this is what it runs. */
  readonly nomad?: NomadAllocation
}

const fields: Readonly<Record<string, Exclude<keyof CniArgs, 'nomad'>>> = {
  K8S_POD_NAMESPACE: 'podNamespace',
  K8S_POD_NAME: 'podName',
  K8S_POD_UID: 'podUid',
  K8S_POD_INFRA_CONTAINER_ID: 'infraContainerId',
  IP: 'ip',
  GATEWAY: 'gateway',
  MAC: 'mac',
}

/** CNI_ARGS read once: what can be understood of it, and why it is refused where it has to be sound. */
export interface ParsedCniArgs {
  readonly args: CniArgs
  /** IPK_ARGS_INVALID (CNI code 7). A DEL works all the same. */
  readonly fault: Problem | undefined
}

/**
 * Parses `KEY=VALUE;KEY=VALUE` as the reference library does (cni:pkg/types/args.go; cni-protocol I1, I2): keys are
 * case-sensitive, the later of equal keys wins, each pair has exactly one "=", and keys we do not know are a fault
 * unless IgnoreUnknown is 1 or true anywhere in the text. Never throws; what is at fault is left out.
 */
export function parseCniArgs(text: string): ParsedCniArgs {
  if (text === '') return noCniArgs
  const values = new Map<Exclude<keyof CniArgs, 'nomad'>, string>()
  const ofNomad = new Map<string, string[]>()
  const unknown: string[] = []
  let ignoreUnknown = false
  let fault: Problem | undefined
  for (const pair of text.split(';')) {
    const [key, value, ...more] = pair.split('=')
    if (key === undefined || value === undefined || more.length > 0) {
      fault ??= new Problem('IPK_ARGS_INVALID', `ARGS: invalid pair ${JSON.stringify(pair)}`)
      continue
    }
    if (key === 'IgnoreUnknown') {
      const flag = parseFlag(pair, value)
      if (typeof flag === 'boolean') ignoreUnknown = flag
      else fault ??= flag
      continue
    }
    if (nomadKeys.has(key)) ofNomad.set(key, [...(ofNomad.get(key) ?? []), value])
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) unknown.push(pair)
    else values.set(field, value)
  }
  if (unknown.length > 0 && !ignoreUnknown) {
    const shown = unknown.map(pair => JSON.stringify(pair)).join(' ')
    fault ??= new Problem('IPK_ARGS_INVALID', `ARGS: unknown args [${shown}]`)
  }
  const args: CniArgs = Object.fromEntries([...values].filter(([, value]) => value !== ''))
  const nomad = readNomadArgs(ofNomad, args.podName !== undefined || args.podNamespace !== undefined)
  if (nomad instanceof Problem) return { args, fault: fault ?? nomad }
  return { args: nomad ? { ...args, nomad } : args, fault }
}

/** What an empty CNI_ARGS says. */
export const noCniArgs: ParsedCniArgs = { args: {}, fault: undefined }

/** @throws Problem IPK_ARGS_INVALID where CNI_ARGS is at fault */
export function soundArgs({ args, fault }: ParsedCniArgs): CniArgs {
  if (fault) throw fault
  return args
}

function parseFlag(pair: string, value: string): boolean | Problem {
  const folded = value.toLowerCase()
  if (folded === '1' || folded === 'true') return true
  if (folded === '0' || folded === 'false') return false
  const why = `boolean unmarshal error: invalid input ${value}`
  return new Problem('IPK_ARGS_INVALID', `ARGS: error parsing value of pair ${JSON.stringify(pair)}: ${why}`)
}
