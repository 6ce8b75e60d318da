// prom-client's entry point also loads what pushes to gateways, samples quantiles and watches the process: 20 MiB of
// resident memory, of which the parts below need 2. Its types are the same.

declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client'
}

declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client'
}

declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client'
}

declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client'
}
