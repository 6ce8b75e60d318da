import { goModule } from './go-module.ts'

/** helm, built by `make test-cluster` and `make test`; test/tools-helm/go.mod alone says in which version. */
export const helmModule = goModule('helm', 'test/tools-helm', 'scripts/build-helm.ts')
