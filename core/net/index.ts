export { createHttpClient, type HttpClient, type HttpOptions, type Resolve } from './client.node.ts';
export {
  type CredentialSources,
  type Credentials,
  createFixedCredentials,
  createTokenFileCredentials,
  type Header,
  readCredential,
} from './credentials.node.ts';
export { formatUrl, type HttpResponse } from './exchange.ts';
export { type NatsTarget, parseNatsTarget } from './nats-url.ts';
export {
  type AddressClass,
  type AddressPolicy,
  type Admission,
  AS_WRITTEN,
  admit,
  classifyAddress,
  createPublicPolicy,
  LOCAL_ADDRESSES,
  parseProxy,
  parseTarget,
} from './policy.ts';
