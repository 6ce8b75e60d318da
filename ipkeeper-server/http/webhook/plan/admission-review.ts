/** AdmissionReview of admission.k8s.io/v1, as far as a validating webhook reads and writes it. */
import { isJsonObject, type JsonObject } from '../../../../shared/json/fold.ts'
import { problemRow } from '../../../../shared/problem/catalogue.ts'
import type { Problem } from '../../../../shared/problem/problem.ts'
import { at } from '../../../kubernetes/kube-object.ts'

const api = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }

/** What somebody wants to do to an object. Nothing is done by answering, so a dry run is as any other. */
export interface Admission {
  readonly uid: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  /** "apps/v1", as the API server has converted the object for us. */
  readonly apiVersion: string
  readonly kind: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** As it would be; undefined for a DELETE. */
  readonly object: JsonObject | undefined
  /** As it is; undefined for a CREATE. */
  readonly oldObject: JsonObject | undefined
}

/** What is said to it. What is wrong but may come right by itself, or does no harm, is a warning. */
export interface AdmissionVerdict {
  readonly refusals: readonly Problem[]
  readonly warnings: readonly string[]
}

/** In one word, for counting. */
export function wordFor({ refusals, warnings }: AdmissionVerdict): 'refused' | 'warned' | 'admitted' {
  if (refusals.length > 0) return 'refused'
  return warnings.length > 0 ? 'warned' : 'admitted'
}

export const admitted: AdmissionVerdict = { refusals: [], warnings: [] }

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const

const textAt = (object: JsonObject, ...path: readonly string[]): string => {
  const value = at(object, ...path)
  return typeof value === 'string' ? value : ''
}

/** Reads a review; undefined for what is none of this version. */
export function readAdmission(body: unknown): Admission | undefined {
  if (!isJsonObject(body) || body['apiVersion'] !== api.apiVersion || body['kind'] !== api.kind)
    return undefined
  const { request } = body
  if (!isJsonObject(request)) return undefined
  const operation = operations.find(known => known === request['operation'])
  const [uid, group, version] = [['uid'], ['kind', 'group'], ['kind', 'version']].map(path =>
    textAt(request, ...path),
  )
  if (!operation || uid === undefined || uid === '') return undefined
  const { object, oldObject } = request
  return {
    uid,
    operation,
    apiVersion: group === '' ? (version ?? '') : `${group ?? ''}/${version ?? ''}`,
    kind: textAt(request, 'kind', 'kind'),
    subresource: textAt(request, 'subResource'),
    namespace: textAt(request, 'namespace'),
    name: textAt(request, 'name') || (isJsonObject(object) ? textAt(object, 'metadata', 'name') : ''),
    object: isJsonObject(object) ? object : undefined,
    oldObject: isJsonObject(oldObject) ? oldObject : undefined,
  }
}

/** "annotation ... is ... [IPK_ADDRESS_HELD]; choose another address ...", on one line as kubectl shows it. */
export function sayProblem({ message, details, hint, code }: Problem): string {
  return `${[message, details].filter(part => part !== '').join(': ')} [${code}]; ${hint}`
}

/**
 * The reply to a review.
 *
 * @param remedy what it advises, as it works where this daemon runs
 */
export function answerAdmission(
  uid: string,
  { refusals, warnings }: AdmissionVerdict,
  remedy: (text: string) => string = text => text,
): JsonObject {
  const [first] = refusals
  return {
    ...api,
    response: {
      uid,
      allowed: first === undefined,
      ...(warnings.length > 0 && { warnings: warnings.map(remedy) }),
      ...(first && {
        status: {
          code: problemRow(first.code).httpStatus === 409 ? 409 : 422,
          reason: problemRow(first.code).httpStatus === 409 ? 'Conflict' : 'Invalid',
          message: refusals.map(refusal => remedy(sayProblem(refusal))).join('. '),
        },
      }),
    },
  }
}
