import { stringify } from 'yaml'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { objectIn, textIn } from '../../../shared/json/object-fields.ts'
import type { SourceFile } from '../../diagnose/lint/site.ts'
import type { ObjectSource } from '../../migrate/import/plan/object-sources.ts'

/** The definitions of Multus, in the API. */
export const attachmentResource: Pick<ObjectSource, 'resources'> = {
  resources: [
    {
      kind: 'NetworkAttachmentDefinition',
      plural: 'network-attachment-definitions',
      apiVersions: ['k8s.cni.cncf.io/v1'],
    },
  ],
}

export interface ApiAttachment {
  readonly namespace: string
  readonly name: string
  /** What is linted of it: its name, and the lines of its config. */
  readonly file: SourceFile
}

/** A definition of the API as a file, as kubectl would write it. */
export function apiAttachment(object: JsonObject): ApiAttachment {
  const metadata = objectIn(object, 'metadata')
  const [namespace, name] = [textIn(metadata, 'namespace'), textIn(metadata, 'name')]
  const { kind, spec } = object
  const text = stringify(
    { kind, metadata: { namespace, name }, ...(spec !== undefined && { spec }) },
    { blockQuote: 'literal', lineWidth: 0 },
  )
  return {
    namespace,
    name,
    file: { path: `net-attach-def/${namespace}/${name}`, name: `${name}.yaml`, text },
  }
}
