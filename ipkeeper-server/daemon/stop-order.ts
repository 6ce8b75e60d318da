/**
 * How the parts of a daemon end, in whatever order they were made: each registers its end in its stage, and whatever was
 * registered last in a stage ends first.
 */
export type StopOrder = Readonly<Record<Exclude<keyof ReturnType<typeof openStages>, 'all'>, Ends>> & {
  readonly all: AsyncDisposableStack
}

type Ends = Pick<AsyncDisposableStack, 'defer'>

/** The stages from the ground up: they end from the last one to the first. */
function openStages() {
  const all = new AsyncDisposableStack()
  const stage = (): AsyncDisposableStack => all.use(new AsyncDisposableStack())
  return {
    all,
    // Whatever ends before may still write to it.
    ledger: stage(),
    // What was begun at the node is finished first.
    network: stage(),
    verbs: stage(),
    // Other nodes hear of this one, and its name is claimed, until no verb changes anything any more.
    mesh: stage(),
    name: stage(),
    node: stage(),
    repairs: stage(),
    times: stage(),
    answers: stage(),
    cluster: stage(),
    // Requests under way are answered before anything that they need ends.
    socket: stage(),
    webhook: stage(),
    page: stage(),
    metrics: stage(),
    configuration: stage(),
    // First of all: another daemon may be elected.
    tasks: stage(),
  }
}

export function openStopOrder(): StopOrder {
  return openStages()
}
