import { readEntries, type Dialect } from '../annotations/annotation-reader.ts'

/**
 * Hybridnet (pkg/constants/annotations.go, pkg/controllers/networking/pod_controller.go): entry N for StatefulSet ordinal N,
 * with "/" between the addresses of both families.
 */
export const hybridnet: Dialect = {
  'networking.alibaba.com/ip-pool': annotation => ({
    candidates: readEntries(
      annotation,
      annotation.value.split(',').map(entry => entry.split('/')),
      'bare',
    ),
  }),
}
