import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import type { ProblemCode } from '../../../shared/problem/catalogue.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import { resourcePath } from '../../kubernetes/api-path.ts'
import { chooseAccess } from '../../kubernetes/choose-access.ts'
import type { ObjectSource, SourceResource } from './plan/object-sources.ts'
import { listIn, objectIn, textIn } from '../../../shared/json/object-fields.ts'

/** Objects per answer. */
const pageSize = 500

export interface ApiWanted {
  readonly env: Readonly<Record<string, string | undefined>>
  /** undefined: the service account of the pod that this is. */
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  /** What a failure is called, and what else can be done where no API is known. */
  readonly failure?: { readonly code: ProblemCode; readonly hint: string }
}

const importFailure: NonNullable<ApiWanted['failure']> = {
  code: 'IPK_IMPORT_SOURCE',
  hint: 'name one: --kubeconfig PATH, or what kubectl has written: --file LIST.json',
}

interface Getter {
  get(path: string, request: { readonly query: Readonly<Record<string, string>> }): Promise<JsonObject>
}

async function listPages(client: Getter, path: string, kind: string): Promise<JsonObject[]> {
  const objects: JsonObject[] = []
  for (let from = ''; ;) {
    const query = { limit: String(pageSize), ...(from !== '' && { continue: from }) }
    const list = await client.get(path, { query })
    // Items of a list may come without the kind that all of them have.
    for (const item of listIn(list, 'items').filter(isJsonObject)) objects.push({ kind, ...item })
    from = textIn(objectIn(list, 'metadata'), 'continue')
    if (from === '') return objects
  }
}

/** All objects of a resource, in the first of its versions that is served. */
async function listResource(
  client: Getter,
  { kind, plural, apiVersions }: SourceResource,
  code: ProblemCode,
): Promise<JsonObject[]> {
  for (const apiVersion of apiVersions) {
    try {
      return await listPages(client, resourcePath(apiVersion, plural), kind)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
    }
  }
  throw new Problem(code, `the Kubernetes API serves no ${plural} of ${apiVersions[0]}`, {
    hint: 'name the cluster that has them: --kubeconfig PATH --context NAME',
  })
}

/** Objects of a source from the API. Rejects with IPK_IMPORT_SOURCE unless told otherwise, or IPK_KUBERNETES_CONFIG. */
export async function listObjects(
  source: Pick<ObjectSource, 'resources'>,
  wanted: ApiWanted,
): Promise<readonly JsonObject[]> {
  const { env, kubeconfig, context, failure = importFailure } = wanted
  const access = chooseAccess(
    {
      mode: 'auto',
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    },
    { env, monotonic: () => performance.now() },
  )
  if (!access) {
    throw new Problem(failure.code, 'no way to the Kubernetes API is known', { hint: failure.hint })
  }
  const { ApiClient } = await import('../../kubernetes/api-client.ts')
  const client = new ApiClient(access)
  try {
    const objects: JsonObject[] = []
    // One by one: as arguments of one call, a hundred thousand objects are more than the stack has room for.
    for (const resource of source.resources)
      for (const object of await listResource(client, resource, failure.code)) objects.push(object)
    return objects
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new Problem(failure.code, `${access.server}: ${error.message}`, { cause: error })
  } finally {
    await client.close()
  }
}
