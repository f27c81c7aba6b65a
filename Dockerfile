# A daemon with its HTTP interface and its dashboard (docs/how-to/container.md). It holds no agent CLI: add yours in an image
# FROM this one. `npm run image` builds it, and makes the folder that is copied first.
ARG BASE=node:24-bookworm-slim
FROM ${BASE}
COPY --chown=1000:1000 .cache/image/state /var/lib/holdfast
COPY .cache/image/opt /opt
COPY .cache/image/bin /usr/local/bin
ENV HOLDFAST_HOME=/var/lib/holdfast
VOLUME /var/lib/holdfast
EXPOSE 7433
USER 1000:1000
WORKDIR /tmp
HEALTHCHECK CMD ["agent", "daemon", "status"]
ENTRYPOINT ["agent"]
CMD ["daemon", "run", "--http=0.0.0.0:7433"]
