import {
  type deserialize,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  type ServerDuplexStream,
  type serialize,
  status,
} from '@grpc/grpc-js';

type Handle<Request, Response> =
  | handleUnaryCall<Request, Response>
  | handleClientStreamingCall<Request, Response>
  | handleServerStreamingCall<Request, Response>
  | handleBidiStreamingCall<Request, Response>;

interface Stream {
  emit(event: 'error', error: { code: status; details: string }): boolean;
}

/**
 * A server that knows its open streams, so that a shutdown can end them: those of health and
 * reflection stay open for as long as the client likes, and it would wait for them. An interceptor
 * would know them too, but costs every check some microseconds.
 */
export class StreamEndingServer extends Server {
  readonly #open = new Set<Stream>();

  override register<Request, Response>(
    path: string,
    handle: Handle<Request, Response>,
    serializer: serialize<Response>,
    deserializer: deserialize<Request>,
    type: string,
  ): boolean {
    const remember = (stream: ServerDuplexStream<Request, Response>): void => {
      this.#open.add(stream);
      const forget = () => this.#open.delete(stream);
      stream.on('cancelled', forget).on('close', forget);
      Reflect.apply(handle, undefined, [stream]);
    };
    const streams = type === 'serverStream' || type === 'bidi';
    return super.register(path, streams ? remember : handle, serializer, deserializer, type);
  }

  endStreams(): void {
    // An error event is how a handler of grpc-js ends its stream with a status.
    const details = 'Sluice shuts down; ask another instance';
    for (const stream of this.#open) stream.emit('error', { code: status.UNAVAILABLE, details });
  }
}
