# Java, by JUnit, with -Xcheck:jni: by the JDK at hand, and by that of JDK=/usr/lib/jvm/… as well; then the scenarios. As
# root, what is missing is installed from Debian's packages.
#
#   make test OF=java
#   make test OF=junit      JUnit alone, by the JDK at hand; make test runs it, and installs none
#   make build OF=java      the jar for this machine, in build/java

.PHONY: test/java test/junit run/java made/java made/java-agents need/java
# Of two JDKs, that of maven. What is on the PATH stays in its place: /usr/bin has another cargo and node, perhaps.
ifneq ($(JAVA_HOME),)
ifeq ($(filter $(JAVA_HOME:/=)/bin,$(subst :, ,$(PATH))),)
export PATH := $(JAVA_HOME)/bin:$(PATH)
endif
endif

# Whether what builds it is there, for maven too. JDK 8 calls itself 1.8.
jdk := javac=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'); [ "$${javac:-0}" -ge 17 ] && command -v mvn >/dev/null

java_mvn := mvn --quiet --batch-mode --no-transfer-progress
maven := $(java_mvn) --file java/pom.xml -Dleafid.build=$(CURDIR)/build/java
java_frameworks := $(java_mvn) --file java/frameworks/pom.xml -Dleafid.build=$(CURDIR)/build/java-frameworks
java_platform = $(if $(filter Darwin,$(shell uname -s)),macos,linux)-$(subst arm64,aarch64,$(shell uname -m))
java_native = build/java-native/io/leafid/native/$(java_platform)$(if $(findstring musl,$(shell rustc -vV)),-musl)

need/java: need/tools
	@sh tests/debian.sh javac:openjdk-17-jdk-headless mvn:maven
	@$(jdk) || { echo "Java needs javac 17 or newer, and that of $${JAVA_HOME:-the PATH} is $${javac:-missing}:" \
	    "name the folder of such a JDK by JAVA_HOME" >&2; exit 1; }

made/java: need/java
	@cargo build --profile $(LEAFID_PROFILE) --quiet -p leafid-java
	@mkdir -p $(java_native) && cp $(built)/libleafid_java.$(C_SHARED) $(java_native)/
	@$(maven) -DskipTests package

test/java: need/tools
	@if $(MAKE) --no-print-directory need/java; then $(MAKE) --no-print-directory run/java; else echo "Java was not tested" >&2; fi

# WITHOUT_JAVA=1 leaves it out, where test/java follows.
test/junit: need/tools
	@if [ -n "$(WITHOUT_JAVA)" ]; then \
	    :; \
	elif $(jdk); then \
	    $(MAKE) --no-print-directory made/java && $(maven) surefire:test; \
	else \
	    echo "no JDK of 17 or newer, or no maven: Java was not tested; make test OF=java installs them as root, or says what to do"; \
	fi

run/java: made/java
	@$(maven) surefire:test
	@for jdk in $(or $(JDK),$(wildcard /usr/lib/jvm/*25*)); do \
	    $(maven) -Djvm=$$jdk/bin/java "-Dleafid.jvm=-Djdk.virtualThreadScheduler.parallelism=2 --enable-native-access=ALL-UNNAMED" \
	        surefire:test || exit 1; \
	done
	@sh examples/quickstart.sh java
	@mkdir -p build/java-frameworks && cp build/java/leafid-[0-9]*.jar build/java-frameworks/leafid.jar
	@for boot in 3.5.7 4.0.7; do $(java_frameworks) -Dboot.version=$$boot test || exit 1; done
	@# Without SLF4J: its log is that of the JDK.
	@$(MAKE) --no-print-directory made/java-agents
	@python3 tests/scenarios/play.py java java -XX:TieredStopAtLevel=1 -cp $$($(java_agents)) Scenarios

# Their class path.
java_agents := echo build/java/agent:build/java/classes:$$(ls build/java/lib/jackson-*.jar | tr '\n' ':')
made/java-agents: made/java
	@mkdir -p build/java/agent && javac -XDignore.symbol.file -XDsuppressNotes -d build/java/agent -cp $$($(java_agents)) tests/agents/java/*.java
