// A listener on eProsima's Fast DDS that takes any type as the bytes that came: nothing of Cyclone, nothing of skyrig.
//
//     fastdds_listener DOMAIN TICKS rt/clock=rosgraph_msgs::msg::dds_::Clock_ rt/tf=...
//
// It prints "TOPIC HEX" for every sample, and ends once TICKS different samples of the first topic have come.
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

using Bytes = std::vector<unsigned char>;

struct AnyType : TopicDataType {
    explicit AnyType(const std::string& name) {
        setName(name.c_str());
        m_typeSize = 256;
        m_isGetKeyDefined = false;
    }
    bool serialize(void*, SerializedPayload_t*) override { return false; }
    bool deserialize(SerializedPayload_t* payload, void* data) override {
        static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void*) override { return [] { return 0u; }; }
    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, InstanceHandle_t*, bool) override { return false; }
};

int main(int count, char** words) {
    DomainParticipantQos own;
    own.transport().use_builtin_transports = false;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    own.transport().user_transports.push_back(udp);
    for (int k = 0; k < 10; ++k) {  // unicast discovery on this machine alone: Cyclone has multicast off
        eprosima::fastrtps::rtps::Locator_t peer;
        eprosima::fastrtps::rtps::IPLocator::setIPv4(peer, "127.0.0.1");
        peer.port = 7400 + 250 * std::atoi(words[1]) + 10 + 2 * k;
        own.wire_protocol().builtin.initialPeersList.push_back(peer);
    }
    auto* participant = DomainParticipantFactory::get_instance()->create_participant(std::atoi(words[1]), own);
    auto* subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    std::vector<std::pair<std::string, DataReader*>> readers;
    for (int k = 3; k < count; ++k) {
        std::string word = words[k], topic = word.substr(0, word.find('=')), type = word.substr(topic.size() + 1);
        TypeSupport(new AnyType(type)).register_type(participant);
        DataReaderQos wanted;
        wanted.reliability().kind = RELIABLE_RELIABILITY_QOS;
        wanted.history().kind = KEEP_ALL_HISTORY_QOS;
        wanted.endpoint().history_memory_policy = eprosima::fastrtps::rtps::DYNAMIC_RESERVE_MEMORY_MODE;
        auto* place = participant->create_topic(topic, type, TOPIC_QOS_DEFAULT);
        readers.push_back({topic, subscriber->create_datareader(place, wanted)});
    }
    std::set<Bytes> ticks;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    int quiet = 0;
    while (quiet < 100 && std::chrono::steady_clock::now() < end) {
        for (auto& [topic, reader] : readers) {
            Bytes bytes;
            SampleInfo info;
            while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
                if (!info.valid_data) continue;
                if (topic == readers[0].first) ticks.insert(bytes);
                std::printf("%s ", topic.c_str());
                for (unsigned char byte : bytes) std::printf("%02x", byte);
                std::printf("\n");
            }
        }
        quiet = static_cast<int>(ticks.size()) >= std::atoi(words[2]) ? quiet + 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::fflush(stdout);
    std::_Exit(0);
}
