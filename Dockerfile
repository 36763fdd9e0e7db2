# Nothing but the program: docker build --build-arg BINARY=ouro-timer .
# Tasks run in the container, so `-- COMMAND` needs the command in it: start from an image that has it, and copy /ouro-timer in.
# As an init container it waits for others: docker run IMAGE health-wait tcp://db:5432 --timeout 60s
FROM scratch
ARG BINARY=ouro-timer
COPY ${BINARY} /ouro-timer
COPY --chown=65532:65532 .ci/package/empty/ /var/lib/ouro-timer/
USER 65532:65532
ENV OURO_HOME=/var/lib/ouro-timer HOME=/var/lib/ouro-timer PATH=/:/usr/local/bin:/usr/bin:/bin
VOLUME /var/lib/ouro-timer
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/ouro-timer", "run", "--status", "-q"]
ENTRYPOINT ["/ouro-timer"]
CMD ["run", "--standby", "--output"]
