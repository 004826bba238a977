# Java, by JUnit, with -Xcheck:jni: by the JDK at hand, and by that of JDK=/usr/lib/jvm/… as well; then the scenarios. As
# root, what is missing is installed from Debian's packages.
#
#   make test OF=java
#   make build OF=java      the jar for this machine, in build/java

.PHONY: test/java run/java made/java made/java-agents need/java
maven := mvn --quiet --batch-mode --no-transfer-progress --file java/pom.xml -Dleafid.build=$(CURDIR)/build/java
java_native := build/java-native/io/leafid/native/linux-$(shell uname -m)

need/java: need/tools
	@sh tests/debian.sh javac:openjdk-17-jdk-headless mvn:maven

made/java: need/java
	@cargo build --profile $(LEAFID_PROFILE) --quiet -p leafid-java
	@mkdir -p $(java_native) && cp $(built)/libleafid_java.so $(java_native)/
	@$(maven) -DskipTests package

test/java: need/tools
	@if $(MAKE) --no-print-directory need/java; then $(MAKE) --no-print-directory run/java; else echo "test-java: skipped" >&2; fi

run/java: made/java
	@$(maven) surefire:test
	@for jdk in $(or $(JDK),$(wildcard /usr/lib/jvm/*25*)); do \
	    $(maven) -Djvm=$$jdk/bin/java "-Dleafid.jvm=-Djdk.virtualThreadScheduler.parallelism=2 --enable-native-access=ALL-UNNAMED" \
	        surefire:test || exit 1; \
	done
	@sh examples/quickstart.sh java
	@# Without SLF4J: its log is that of the JDK.
	@$(MAKE) --no-print-directory made/java-agents
	@python3 tests/scenarios/play.py java java -XX:TieredStopAtLevel=1 -cp $$($(java_agents)) Scenarios

# Their class path.
java_agents := echo build/java/agent:build/java/classes:$$(ls build/java/lib/jackson-*.jar | tr '\n' ':')
made/java-agents: made/java
	@mkdir -p build/java/agent && javac -XDignore.symbol.file -XDsuppressNotes -d build/java/agent -cp $$($(java_agents)) tests/agents/java/*.java
