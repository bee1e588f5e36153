export { type AddressClass, classifyAddress } from './address.ts';
export { createHttpClient, type HttpClient, type HttpOptions, type Resolve } from './client.node.ts';
export { type CredentialSources, createTokenFileCredentials, readCredential } from './credentials.node.ts';
export { type Credentials, createFixedCredentials, type Header } from './credentials.ts';
export type { HttpResponse } from './exchange.ts';
export { formatUrl } from './format-url.ts';
export { type NatsTarget, parseNatsTarget } from './nats-url.ts';
export {
  type AddressPolicy,
  type Admission,
  AS_WRITTEN,
  admit,
  createPublicPolicy,
  LOCAL_ADDRESSES,
  parseProxy,
  parseTarget,
} from './policy.ts';
